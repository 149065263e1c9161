import NIOCore
import NIOPosix
import Synchronization
import Text

/// The addresses of host names, looked up on separate threads and cached for a while.
///
/// A name server may never answer. So a host is looked up once at a time, however many callers wait; a share has only
/// some of the lookups in progress; and the last addresses of a host serve while it cannot be looked up.
final class AddressBook: Sendable {
    private typealias Lookup = EventLoopFuture<[IPAddress]>

    private struct Entry {
        /// Those of the last lookup that found any.
        var addresses: [IPAddress] = []
        var found: ContinuousClock.Instant
        /// Until then, no lookup begins.
        var isCurrentUntil: ContinuousClock.Instant
        var lookup: (result: Lookup, share: String?)?
    }

    private let resolver: AddressResolver
    private let limits: OutboundLimits
    private let entries = Mutex<[String: Entry]>([:])

    /// As many threads as lookups may be in progress, so none waits for another one.
    private static let threads = {
        let threads = NIOThreadPool(numberOfThreads: OutboundLimits().lookups)
        threads.start()
        return threads
    }()

    init(resolver: AddressResolver, limits: OutboundLimits) {
        self.resolver = resolver
        self.limits = limits
    }

    func addresses(of host: String, for share: String?) async throws(OutboundError) -> [IPAddress] {
        if let literal = IPAddress(host) { return [literal] }
        let (known, lookup) = try look(host, share).get()
        guard let lookup else { return known }
        // A request waits for long only if it has no addresses.
        if let found = try await Self.result(of: lookup, within: known.isEmpty ? limits.connect : limits.patience) {
            guard !(known + found).isEmpty else { throw .unreachable }
            return found.isEmpty ? known : found
        }
        entries.withLock { $0[host]?.isCurrentUntil = ContinuousClock.now + limits.lookupPause }
        guard !known.isEmpty else { throw .timedOut }
        return known
    }

    /// Makes the next request look up again, because a connection to the cached addresses failed.
    func forget(_ host: String) {
        entries.withLock { $0[host]?.isCurrentUntil = .now }
    }

    /// The last addresses of a host, and the lookup in progress unless they are current.
    private func look(_ host: String, _ share: String?) -> Result<(known: [IPAddress], Lookup?), OutboundError> {
        entries.withLock { entries in
            let now = ContinuousClock.now
            var entry = entries[host] ?? Entry(found: now, isCurrentUntil: now)
            let known = entry.found + limits.addressMemory > now ? entry.addresses : []
            if entry.isCurrentUntil > now { return known.isEmpty ? .failure(.unreachable) : .success((known, nil)) }
            if let lookup = entry.lookup { return .success((known, lookup.result)) }
            let others = entries.values.compactMap(\.lookup)
            guard others.count < limits.lookups,
                share == nil || others.count(where: { $0.share == share }) < limits.lookupsPerShare
            else { return known.isEmpty ? .failure(.busy) : .success((known, nil)) }
            let lookup = Self.threads.runIfActive(eventLoop: MultiThreadedEventLoopGroup.singleton.any()) {
                let found = self.resolver.addresses(host)
                self.end(host, found)
                return found
            }
            entry.lookup = (lookup, share)
            if entries[host] == nil { makeRoom(in: &entries) }
            entries[host] = entry
            return .success((known, lookup))
        }
    }

    private func end(_ host: String, _ found: [IPAddress]) {
        entries.withLock { entries in
            guard var entry = entries[host] else { return }
            entry.lookup = nil
            entry.isCurrentUntil = ContinuousClock.now + (found.isEmpty ? limits.lookupPause : limits.addressLifetime)
            if !found.isEmpty { (entry.addresses, entry.found) = (found, .now) }
            entries[host] = entry
        }
    }

    /// Drops the host that was looked up longest ago.
    private func makeRoom(in entries: inout [String: Entry]) {
        guard entries.count >= limits.hosts else { return }
        let oldest = entries.filter { $0.value.lookup == nil }.min { $0.value.isCurrentUntil < $1.value.isCurrentUntil }
        if let oldest { entries[oldest.key] = nil }
    }

    /// The addresses; nil if the time ends first, while the lookup goes on.
    private static func result(
        of lookup: Lookup,
        within limit: Duration
    ) async throws(OutboundError) -> [IPAddress]? {
        let loop = lookup.eventLoop
        let answer = loop.makePromise(of: [IPAddress]?.self)
        lookup.whenComplete { answer.succeed((try? $0.get()) ?? []) }
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { answer.succeed(nil) }
        defer { timer.cancel() }
        let found = await withTaskCancellationHandler {
            try? await answer.futureResult.get()
        } onCancel: {
            answer.succeed(nil)
        }
        guard !Task.isCancelled else { throw .cancelled }
        return found
    }
}
