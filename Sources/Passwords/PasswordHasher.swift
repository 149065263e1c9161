import NIOPosix
package import Secrets
import ServiceLifecycle
import Synchronization

/// Hashes and compares passwords on separate threads, with a limited queue.
///
/// A hash takes tens of milliseconds of CPU time, so none runs on the concurrency pool; and a flood of sign-ins meets a
/// full queue instead of ever longer waits.
package final class PasswordHasher: Service {
    /// Hashes a password with salt, parameters and signer key, blocking; always ``FirebaseScrypt`` except in tests.
    package typealias Function =
        @Sendable ([UInt8], [UInt8], ScryptParameters, [UInt8]) throws(PasswordError) -> [UInt8]

    private let pool: NIOThreadPool
    /// The maximum number of running and waiting hashes.
    package let capacity: Int
    private let state = Mutex(State())
    private let random: RandomSource
    private let function: Function

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - workers: the number of simultaneous hashes, usually the number of cores. Each takes 16 MiB while it runs.
    ///   - queueLimit: the number of additional hashes that may wait.
    package init(
        workers: Int,
        queueLimit: Int,
        random: RandomSource = .system,
        function: @escaping Function = { (password, salt, parameters, signerKey) throws(PasswordError) in
            try FirebaseScrypt.hash(password, salt: salt, parameters: parameters, signerKey: signerKey)
        }
    ) {
        self.pool = NIOThreadPool(numberOfThreads: max(1, workers))
        self.capacity = max(1, workers) + max(0, queueLimit)
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
        signerKey: [UInt8]
    ) async throws(PasswordError) -> PasswordHash {
        let salt = random.bytes(16)
        let function = function
        let hash = try await onWorker { () throws(PasswordError) in
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
        signerKey: [UInt8]
    ) async throws(PasswordError) -> Bool {
        let function = function
        return try await onWorker { () throws(PasswordError) in
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

    /// As ``verify(_:against:parameters:signerKey:)``, for the password in the form in which they are stored and, once
    /// more, in the other one of ``Swift/String/otherPassword``: of imports, and from before there was one form.
    ///
    /// A password with both costs two hashes whenever the first fails, whether or not there is an account.
    ///
    /// - Returns: nil for another password.
    package func match(
        _ password: Secret,
        against stored: PasswordHash?,
        parameters: ScryptParameters = .standard,
        signerKey: [UInt8]
    ) async throws(PasswordError) -> PasswordMatch? {
        let composed = Secret(password.reveal().composedPassword)
        if try await verify(composed, against: stored, parameters: parameters, signerKey: signerKey) {
            return PasswordMatch(isComposed: true)
        }
        guard let other = password.reveal().otherPassword else { return nil }
        return try await verify(Secret(other), against: stored, parameters: parameters, signerKey: signerKey)
            ? PasswordMatch(isComposed: false) : nil
    }

    private struct State {
        var admitted = 0
        var begun = 0
        var refused = 0
    }

    /// The number of hashes running or waiting now.
    package var load: Int { state.withLock { $0.admitted } }
    /// The number of hashes admitted since the start.
    package var begun: Int { state.withLock { $0.begun } }
    /// The number of hashes refused because of a full queue since the start.
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

    /// Runs blocking work on one of the threads, once there is room.
    private func onWorker<Value: Sendable>(
        _ body: @escaping @Sendable () throws(PasswordError) -> Value
    ) async throws(PasswordError) -> Value {
        let isAdmitted = state.withLock { state in
            guard state.admitted < capacity else {
                state.refused += 1
                return false
            }
            state.admitted += 1
            state.begun += 1
            return true
        }
        guard isAdmitted else { throw .overloaded }
        let cancellation = Cancellation()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pool.submit { [self] state in
                    let result = Result { () throws(PasswordError) in
                        guard state == .active else { throw .stopped }
                        guard !cancellation.isCancelled else { throw .cancelled }
                        return try body()
                    }
                    self.state.withLock { $0.admitted -= 1 }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
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
