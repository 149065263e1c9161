import ServiceLifecycle
import Synchronization
import Text

/// The only client for outgoing HTTP requests.
///
/// A request is sent once, to a checked address, within limits of time and size; redirects are not followed.
package final class OutboundClient: Service {
    private struct State {
        var lanes: [OutboundLane.Key: OutboundLane] = [:]
        var closed = false
    }

    package let limits: OutboundLimits
    let policy: AddressPolicy
    let strangers: AddressPolicy
    private let authorities: OutboundAuthorities
    let userAgent: String
    let book: AddressBook
    private let pass: @Sendable (Duration) async -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - strangers: the policy for ``OutboundRequest/isForStranger``.
    ///   - pass: how the time of a request passes; nil as clocks say.
    package init(
        policy: AddressPolicy,
        strangers: AddressPolicy = AddressPolicy(),
        authorities: OutboundAuthorities = OutboundAuthorities(),
        limits: OutboundLimits = OutboundLimits(),
        userAgent: String = "identity/1.0",
        resolver: AddressResolver = .system,
        passing pass: (@Sendable (Duration) async -> Void)? = nil
    ) {
        self.policy = policy
        self.strangers = strangers
        self.authorities = authorities
        self.limits = limits
        self.userAgent = userAgent
        self.book = AddressBook(resolver: resolver, limits: limits)
        self.pass = pass ?? TimeLimit.sleep
    }

    /// - Parameter allowsLoopback: allows requests to this machine, also over http; for `identity dev` and tests.
    package convenience init(
        allowsLoopback: Bool,
        limits: OutboundLimits = OutboundLimits(),
        passing pass: (@Sendable (Duration) async -> Void)? = nil
    ) {
        let policy = AddressPolicy(allowsLoopback: allowsLoopback)
        self.init(policy: policy, strangers: policy, limits: limits, passing: pass)
    }

    /// Whether requests to this machine are allowed.
    package var allowsLoopback: Bool { policy.allowsLoopback }

    /// Whether they are allowed for strangers too.
    package var letsStrangersUseLoopback: Bool { strangers.allowsLoopback }

    /// Waits for the graceful shutdown, then closes.
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Closes all connections.
    ///
    /// Later requests fail. Must be called once the client is no longer used.
    package func shutdown() async {
        let lanes = state.withLock { state in
            defer { state.lanes = [:] }
            state.closed = true
            return Array(state.lanes.values)
        }
        for lane in lanes { await lane.close() }
    }

    /// Sends the request once and reads the whole response.
    package func send(_ request: OutboundRequest) async throws(OutboundError) -> OutboundResponse {
        let target = try OutboundTarget(request.url)
        let policy = request.isForStranger ? strangers : policy
        guard target.encrypted || policy.allowsLoopback else { throw .invalidURL }
        let limit = min(request.timeLimit ?? limits.total, limits.total)
        return try await TimeLimit.run(limit, passing: pass) { () async throws(OutboundError) -> OutboundResponse in
            let known = try await self.book.addresses(of: target.host, for: Self.share(request))
            let addresses = known.filter { policy.allows($0, encrypted: target.encrypted) }.prefix(2)
            guard let last = addresses.last else { throw .refusedAddress }
            for address in addresses.dropLast() {
                do throws(FailedAttempt) {
                    return try await self.attempt(request, target, at: address)
                } catch {
                    // Nothing was sent yet, so trying the next address repeats nothing.
                    guard error.beforeSending else { throw error.reason }
                }
            }
            do throws(FailedAttempt) {
                return try await self.attempt(request, target, at: last)
            } catch {
                if error.beforeSending { self.book.forget(target.host) }
                throw error.reason
            }
        }
    }

    /// What strangers make a project request has a share of its own beside the project's.
    private static func share(_ request: OutboundRequest) -> String? {
        OutboundShare.current.map { request.isForStranger ? "strangers of \($0)" : $0 }
    }

    private func attempt(
        _ request: OutboundRequest,
        _ target: OutboundTarget,
        at address: IPAddress
    ) async throws(FailedAttempt) -> OutboundResponse {
        let key = OutboundLane.Key(host: target.host, address: address)
        let share = Self.share(request)
        let (lane, retired) = try enter(key, share)
        defer { lane.leave(share) }
        for lane in retired { await lane.close() }
        return try await lane.perform(request, url: target.url, userAgent: userAgent, limits: limits)
    }

    /// Finds or creates the lane and counts the request in one step, so that no lane is removed in between.
    private func enter(
        _ key: OutboundLane.Key,
        _ share: String?
    ) throws(FailedAttempt) -> (OutboundLane, retired: [OutboundLane]) {
        let outcome = state.withLock { state -> Result<(OutboundLane, [OutboundLane]), FailedAttempt> in
            guard !state.closed else { return .failure(FailedAttempt(.cancelled)) }
            var retired: [OutboundLane] = []
            let lane = state.lanes[key] ?? OutboundLane(key, limits: limits, authorities: authorities)
            if state.lanes[key] == nil {
                if state.lanes.count >= limits.hosts { retired = retire(from: &state.lanes) }
                state.lanes[key] = lane
            }
            guard lane.enter(share) else { return .failure(FailedAttempt(.busy)) }
            return .success((lane, retired))
        }
        return try outcome.get()
    }

    private func retire(from lanes: inout [OutboundLane.Key: OutboundLane]) -> [OutboundLane] {
        let idle = lanes.compactMap { key, lane in lane.idleSince.map { (key, $0) } }.sorted { $0.1 < $1.1 }
        return idle.prefix(max(1, limits.hosts / 8)).compactMap { lanes.removeValue(forKey: $0.0) }
    }
}
