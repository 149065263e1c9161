import NIOPosix
package import Secrets
import ServiceLifecycle
import Synchronization

/// Hashes and compares passwords on separate threads, with a limited queue.
///
/// A hash takes tens of milliseconds of CPU time, so none runs on the concurrency pool; and a flood of sign-ins meets a
/// full queue instead of ever longer waits. Projects and networks share the queue fairly (``HashQueue``).
package final class PasswordHasher: Service {
    /// Hashes a password with salt, parameters and signer key, blocking; always ``FirebaseScrypt`` except in tests.
    package typealias Function =
        @Sendable ([UInt8], [UInt8], ScryptParameters, [UInt8]) throws(PasswordError) -> [UInt8]

    private let pool: NIOThreadPool
    /// The maximum number of running and waiting hashes.
    package let capacity: Int
    private let state: Mutex<State>
    private let random: RandomSource
    private let function: Function

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - workers: the number of simultaneous hashes, usually the number of cores. Each takes 16 MiB while it runs.
    ///   - queueLimit: the number of additional hashes that may wait.
    ///   - shareLimit: the number of hashes of one project, or one network, that may run or wait; nil for a quarter.
    package init(
        workers: Int,
        queueLimit: Int,
        shareLimit: Int? = nil,
        random: RandomSource = .system,
        function: @escaping Function = { (password, salt, parameters, signerKey) throws(PasswordError) in
            try FirebaseScrypt.hash(password, salt: salt, parameters: parameters, signerKey: signerKey)
        }
    ) {
        self.pool = NIOThreadPool(numberOfThreads: max(1, workers))
        let capacity = max(1, workers) + max(0, queueLimit)
        self.capacity = capacity
        state = Mutex(State(queue: HashQueue(capacity: capacity, shareLimit: shareLimit ?? max(1, capacity / 4))))
        self.random = random
        self.function = function
        pool.start()
    }

    /// Hashes a new password with a new salt of 16 bytes.
    ///
    /// - Parameter signerKey: the project's, 64 bytes.
    package func hash(
        _ password: Secret,
        parameters: ScryptParameters = .standard,
        signerKey: [UInt8],
        for share: HashShare = .service
    ) async throws(PasswordError) -> PasswordHash {
        let salt = random.bytes(16)
        let function = function
        let hash = try await onWorker(share) { () throws(PasswordError) in
            try function(Array(password.reveal().composedPassword.utf8), salt, parameters, signerKey)
        }
        return PasswordHash(salt: salt, hash: hash, parameters: parameters)
    }

    /// Whether exactly these bytes are the hash's password.
    ///
    /// For imported hashes, a wrong password also costs a hash of the project's algorithm, as a right one does when it
    /// is rehashed, and for own hashes of a lower cost what is missing to the project's: so the time does not distinguish
    /// an account from an unknown email, unless its hash costs more than the project's now.
    ///
    /// - Parameters:
    ///   - stored: nil for an account without a password or an unknown one: the same work, and false.
    ///   - parameters: those of most hashes of the project, used if there is no hash.
    package func verify(
        _ password: Secret,
        against stored: PasswordHash?,
        parameters: ScryptParameters = .standard,
        signerKey: [UInt8],
        for share: HashShare = .service
    ) async throws(PasswordError) -> Bool {
        let function = function
        return try await onWorker(share) { () throws(PasswordError) in
            let bytes = Array(password.reveal().utf8)
            var (salt, hash) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 64))
            var (parameters, more) = (parameters, [ScryptParameters]())
            switch stored?.origin {
            case nil: break
            case .imported(let configuration):
                if try configuration.matches(bytes, hash: stored?.hash ?? [], salt: stored?.salt ?? []) { return true }
            case .project(let own):
                more = parameters.more(than: own)
                (salt, hash, parameters) = (stored?.salt ?? [], stored?.hash ?? [], own)
            }
            let isEqual = ConstantTime.equal(try function(bytes, salt, parameters, signerKey), hash)
            guard !isEqual else { return stored?.parameters != nil }
            for parameters in more { _ = try function(bytes, salt, parameters, signerKey) }
            return false
        }
    }

    /// As ``verify(_:against:parameters:signerKey:for:)``, for the password in the form in which they are stored and, once
    /// more, in the other one of ``Swift/String/otherPassword``: of imports, and from before there was one form.
    ///
    /// A password with both costs two hashes whenever the first fails, whether or not there is an account.
    ///
    /// - Returns: nil for another password.
    package func match(
        _ password: Secret,
        against stored: PasswordHash?,
        parameters: ScryptParameters = .standard,
        signerKey: [UInt8],
        for share: HashShare = .service
    ) async throws(PasswordError) -> PasswordMatch? {
        let composed = Secret(password.reveal().composedPassword)
        if try await verify(composed, against: stored, parameters: parameters, signerKey: signerKey, for: share) {
            return PasswordMatch(isComposed: true)
        }
        guard let other = password.reveal().otherPassword else { return nil }
        return try await verify(
            Secret(other),
            against: stored,
            parameters: parameters,
            signerKey: signerKey,
            for: share
        )
            ? PasswordMatch(isComposed: false) : nil
    }

    /// What a worker does: runs a hash, or finds out why not, and returns what tells the caller.
    private typealias Job = @Sendable (NIOThreadPool.WorkItemState) -> () -> Void

    private struct State {
        var queue: HashQueue<Job>
        var begun = 0
        var refused = 0
    }

    /// The number of hashes running or waiting now.
    package var load: Int { state.withLock { $0.queue.count } }
    /// The number of hashes admitted since the start.
    package var begun: Int { state.withLock { $0.begun } }
    /// The number of hashes refused because of a full queue, or a full share of it, since the start.
    package var refused: Int { state.withLock { $0.refused } }

    /// Lets running hashes finish, refuses waiting ones, and ends the threads.
    package func shutdown() async {
        try? await pool.shutdownGracefully()  // throws for pools that can't be stopped, which this is not
    }

    /// Keeps the threads until the service group stops.
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Runs blocking work on one of the threads, when it is its turn.
    private func onWorker<Value: Sendable>(
        _ share: HashShare,
        _ body: @escaping @Sendable () throws(PasswordError) -> Value
    ) async throws(PasswordError) -> Value {
        let cancellation = Cancellation()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, PasswordError>, Never>) in
                let isAdmitted = admit(share) { state in
                    let result = Result { () throws(PasswordError) in
                        guard state == .active else { throw .stopped }
                        guard !cancellation.isCancelled else { throw .cancelled }
                        return try body()
                    }
                    return { continuation.resume(returning: result) }
                }
                guard isAdmitted else { return continuation.resume(returning: .failure(.overloaded)) }
                pool.submit { [self] in runNext($0) }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func admit(_ share: HashShare, _ job: @escaping Job) -> Bool {
        state.withLock { state in
            let isAdmitted = state.queue.insert(job, of: share)
            if isAdmitted { state.begun += 1 } else { state.refused += 1 }
            return isAdmitted
        }
    }

    /// Runs the hash whose turn it is, which need not be the one that was submitted.
    private func runNext(_ workItem: NIOThreadPool.WorkItemState) {
        guard let (job, share) = state.withLock({ $0.queue.next() }) else { return }
        let clock = ContinuousClock()
        let start = clock.now
        let answer = job(workItem)
        state.withLock { $0.queue.end(share, after: clock.now - start) }
        answer()
    }
}

/// Tells a worker that the caller no longer waits for the hash.
private final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .acquiring) }
    func cancel() { flag.store(true, ordering: .releasing) }
}

/// Proof that a password matched a hash.
///
/// Only a hasher creates one.
package struct PasswordMatch: Sendable, Hashable {
    /// Whether the hash is that of the form in which passwords are stored.
    package let isComposed: Bool

    fileprivate init(isComposed: Bool) { self.isComposed = isComposed }
}
