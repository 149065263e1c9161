import Foundation
import IdentityCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The keys at one URL: fetched once for all callers, renewed in the background, and kept while the URL is down.
final class KeySource: Sendable {
    struct Times: Sendable {
        /// From this age on, keys are renewed in the background.
        ///
        /// The service lets them be cached for two hours; clocks and rotations are left a reserve.
        var renewal = Duration.seconds(1800)
        /// Up to this age, keys are used while the URL is down.
        var maximum: Duration
        /// Between requests for a key that is not there; the service publishes a key before it signs.
        var pause = Duration.seconds(60)
        /// Between requests that fail.
        var retry = Duration.seconds(5)
    }

    private struct State {
        var keys: [String: VerificationKey] = [:]
        var fetchedAt: ContinuousClock.Instant?
        /// Of the last attempt that has ended.
        var attemptedAt: ContinuousClock.Instant?
        var hasFailed = false
        var fetch: Task<Void, Never>?
    }

    private let url: URL
    private let times: Times
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Protected(State())

    init(url: URL, times: Times, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.url = url
        self.times = times
        self.now = now
    }

    /// Returns a key of the present set; starts a renewal if it is due.
    func presentKey(_ id: String) -> VerificationKey? { state.withLock { look(for: id, in: &$0).key } }

    /// Returns a key, after a request if the present set lacks it.
    func key(_ id: String) async throws(TokenError) -> VerificationKey {
        let found = state.withLock { look(for: id, in: &$0) }
        if let key = found.key { return key }
        await found.fetch?.value
        let after = state.withLock { look(for: id, in: &$0) }
        if let key = after.key { return key }
        throw after.isUsable ? .unknownKey : .keysUnavailable
    }

    private struct Finding: Sendable {
        var key: VerificationKey?
        var isUsable: Bool
        var fetch: Task<Void, Never>?
    }

    private func look(for id: String, in state: inout State) -> Finding {
        let now = now()
        let age = state.fetchedAt.map { $0.duration(to: now) }
        let isUsable = age.map { $0 < times.maximum } ?? false
        let key = isUsable ? state.keys[id] : nil
        let isDue = age.map { $0 >= times.renewal } ?? true
        let pause = state.hasFailed ? times.retry : isDue ? .zero : times.pause
        let mayFetch = state.attemptedAt.map { $0.duration(to: now) >= pause } ?? true
        if key == nil || isDue, state.fetch == nil, mayFetch { state.fetch = Task { await self.fetch() } }
        return Finding(key: key, isUsable: isUsable, fetch: state.fetch)
    }

    private func fetch() async {
        let response = try? await HTTP.send(URLRequest(url: url))
        let keys = response.flatMap { $0.status == 200 ? VerificationKey.readSet(Array($0.body)) : nil }
        let now = now()
        state.withLock {
            $0.fetch = nil
            $0.attemptedAt = now
            $0.hasFailed = keys == nil
            guard let keys else { return }
            $0.keys = keys
            $0.fetchedAt = now
        }
    }
}
