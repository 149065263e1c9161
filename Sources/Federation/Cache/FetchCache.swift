import Foundation
import Outbound
import Synchronization

/// Cached documents of other services, for as long as they allow, within bounds.
///
/// For each key only one load runs at a time, and simultaneous callers share its result. While the other service is
/// down, the old document is used up to a limit, and a failed load is not retried for as long as it took: a service that
/// hangs costs one timeout, not one for each caller (threats.md, T-E36).
///
/// All projects share the documents. Each counts for the project that loaded it first, which is that of
/// ``OutboundShare``. When there is no place left, the project with the most loses the one that it used least recently
/// (T-E11).
final class FetchCache<Value: Sendable>: Sendable {
    struct Settings: Sendable {
        /// Bounds in seconds for the lifetime that the other service requests.
        var lifetimes: ClosedRange<TimeInterval> = 60...86_400
        /// Seconds, if the other service requests no lifetime.
        var standardLifetime: TimeInterval = 3_600
        /// Seconds for which an expired document is still used while no newer one can be loaded.
        var maximumStale: TimeInterval = 86_400
        /// Seconds between attempts while an old document is used, and between forced loads.
        var minimumInterval: TimeInterval = 60
        /// The maximum number of documents.
        var capacity = 1_024
        /// The maximum number of them that one project loaded.
        var shareCapacity = 256
        /// The number of callers that wait for one load; the others get ``FederationError/overloaded``.
        var maximumWaiting = 512
        /// The longest time in seconds for which a failed load is not retried because it took long.
        var longestPause: TimeInterval = 10
    }

    /// A loaded document and its requested lifetime in seconds.
    struct Loaded: Sendable {
        var value: Value
        var lifetime: TimeInterval?
    }

    private struct Slot {
        /// The project that loads it first; nil for the service itself.
        let share: String?
        var lastUse = 0
        var value: Value?
        var expires = Date.distantPast
        var retryAfter = Date.distantPast
        var failure: FederationError?
        var lastForced = Date.distantPast
        var loading = false
        var waiting: [CheckedContinuation<Result<Value, FederationError>?, Never>] = []
    }

    private enum Step {
        case use(Value)
        case fail(FederationError)
        case load
        case wait
    }

    private let settings: Settings
    private let now: @Sendable () -> Date
    private let slots = Mutex<[String: Slot]>([:])
    private let uses = Atomic(0)

    init(settings: Settings = Settings(), now: @escaping @Sendable () -> Date) {
        self.settings = settings
        self.now = now
    }

    /// Whether the document for `key` needs no load now.
    func isFresh(_ key: String) -> Bool {
        let now = now()
        return slots.withLock { slots in slots[key].map { $0.value != nil && $0.expires > now } ?? false }
    }

    /// The document for `key`, loaded if there is none or it is too old.
    ///
    /// - Parameters:
    ///   - isEnough: false requests a newer document although this one is fresh, which is granted once in
    ///     ``Settings/minimumInterval``; otherwise the current document is returned.
    ///   - rememberingFailure: whether a failed first load is not retried within the interval either, however quickly it
    ///     failed.
    func value(
        for key: String,
        isEnough: @Sendable (Value) -> Bool = { _ in true },
        rememberingFailure: Bool = false,
        load: @Sendable () async throws(FederationError) -> Loaded
    ) async throws(FederationError) -> Value {
        while true {
            switch next(key, isEnough) {
            case .use(let value): return value
            case .fail(let error): throw error
            case .load: return try await lead(key, isEnough, rememberingFailure, load)
            case .wait:
                let outcome = await withCheckedContinuation { continuation in
                    let now = now()
                    let answer: Result<Value, FederationError>?? = slots.withLock { slots in
                        guard let slot = slots[key], slot.loading else { return .some(nil) }
                        guard slot.waiting.count >= settings.maximumWaiting else {
                            slots[key]?.waiting.append(continuation)
                            return nil
                        }
                        if slot.expires <= now, let value = slot.value, isServable(slot, now) { return .success(value) }
                        return .failure(.overloaded)
                    }
                    if let answer { continuation.resume(returning: answer) }
                }
                if let outcome { return try outcome.get() }
            }
        }
    }

    /// Whether ``value(for:isEnough:rememberingFailure:load:)`` would load now; changes nothing.
    func wouldLoad(_ key: String, isEnough: (Value) -> Bool) -> Bool {
        let now = now()
        return slots.withLock { slots in
            guard let slot = slots[key] else { return true }
            guard !slot.loading else { return false }
            if let value = slot.value, slot.expires > now {
                return !isEnough(value) && now.timeIntervalSince(slot.lastForced) >= settings.minimumInterval
            }
            return slot.retryAfter <= now
        }
    }

    private func next(_ key: String, _ isEnough: (Value) -> Bool) -> Step {
        let now = now()
        return slots.withLock { slots in
            let share = OutboundShare.current
            makeRoom(for: key, of: share, in: &slots)
            var slot = slots[key] ?? Slot(share: share)
            slot.lastUse = uses.add(1, ordering: .relaxed).newValue
            defer { slots[key] = slot }
            if let value = slot.value {
                if slot.expires > now {
                    if isEnough(value) { return .use(value) }
                    guard now.timeIntervalSince(slot.lastForced) >= settings.minimumInterval else { return .use(value) }
                    if slot.loading { return .wait }
                    slot.lastForced = now
                    slot.loading = true
                    return .load
                }
                if slot.retryAfter > now, isServable(slot, now) { return .use(value) }
            }
            if let failure = slot.failure, slot.retryAfter > now { return .fail(failure) }
            if slot.loading { return .wait }
            slot.loading = true
            return .load
        }
    }

    private func lead(
        _ key: String,
        _ isEnough: (Value) -> Bool,
        _ rememberingFailure: Bool,
        _ load: @Sendable () async throws(FederationError) -> Loaded
    ) async throws(FederationError) -> Value {
        let outcome: Result<Loaded, FederationError>
        let start = now()
        do throws(FederationError) {
            let loaded = try await load()
            outcome = .success(loaded)
        } catch {
            outcome = .failure(error)
        }
        let now = now()
        let (result, waiting) = slots.withLock { slots in
            var slot = slots[key] ?? Slot(share: OutboundShare.current)
            let result: Result<Value, FederationError>
            switch outcome {
            case .success(let loaded):
                let lifetime = loaded.lifetime ?? settings.standardLifetime
                let bounded = min(max(lifetime, settings.lifetimes.lowerBound), settings.lifetimes.upperBound)
                slot.value = loaded.value
                slot.failure = nil
                slot.expires = now.addingTimeInterval(bounded)
                // What this load did not bring, another one within the interval would not bring either.
                if !isEnough(loaded.value) { slot.lastForced = now }
                result = .success(loaded.value)
            case .failure(let error):
                if let value = slot.value, slot.expires > now || isServable(slot, now) {
                    slot.retryAfter = now.addingTimeInterval(settings.minimumInterval)
                    result = .success(value)
                } else {
                    result = .failure(error)
                    slot.failure = Task.isCancelled ? nil : error
                    let pause = min(now.timeIntervalSince(start), settings.longestPause)
                    slot.retryAfter = now.addingTimeInterval(rememberingFailure ? settings.minimumInterval : pause)
                }
            }
            slot.loading = false
            let waiting = slot.waiting
            slot.waiting = []
            slots[key] = slot
            return (result, waiting)
        }
        // A cancelled leader says nothing about the other service, so the waiting callers try themselves.
        let shared: Result<Value, FederationError>? = Task.isCancelled ? nil : result
        for continuation in waiting { continuation.resume(returning: shared) }
        return try result.get()
    }

    private func isServable(_ slot: Slot, _ now: Date) -> Bool {
        now < slot.expires.addingTimeInterval(settings.maximumStale)
    }

    private func makeRoom(for key: String, of share: String?, in slots: inout [String: Slot]) {
        guard slots[key] == nil else { return }
        var places: [String?: Int] = [:]
        for slot in slots.values { places[slot.share, default: 0] += 1 }
        let isShareFull = share != nil && places[share, default: 0] >= settings.shareCapacity
        guard isShareFull || slots.count >= settings.capacity else { return }
        let loser = slots.filter { !$0.value.loading && (!isShareFull || $0.value.share == share) }.min { one, other in
            let (more, fewer) = (places[one.value.share, default: 0], places[other.value.share, default: 0])
            return more == fewer ? one.value.lastUse < other.value.lastUse : more > fewer
        }
        if let loser { slots.removeValue(forKey: loser.key) }
    }
}
