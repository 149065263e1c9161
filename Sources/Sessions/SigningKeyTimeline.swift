/// The deployment's signing keys by their dates, which determine each key's state and the changes that are due.
///
/// A pure function of the rows and the time, so every node computes the same result.
package struct SigningKeyTimeline: Sendable {
    /// A purpose and algorithm for which one key signs at a time.
    package struct Slot: Sendable, Hashable, CustomStringConvertible {
        package var purpose: SigningPurpose
        package var algorithm: SigningAlgorithm

        package static let all = SigningPurpose.allCases.flatMap { purpose in
            purpose.algorithms.map { Slot(purpose: purpose, algorithm: $0) }
        }

        package init(purpose: SigningPurpose, algorithm: SigningAlgorithm) {
            self.purpose = purpose
            self.algorithm = algorithm
        }

        package var description: String { "\(purpose.rawValue) \(algorithm.rawValue)" }
    }

    /// A key; times are in seconds since 1970.
    package struct Key: Sendable, Hashable {
        package var kid: String
        package var slot: Slot
        package var createdAt: Int64
        /// When it starts signing.
        package var activeFrom: Int64
        /// Whether its private half is stored.
        package var signs: Bool

        package init(kid: String, slot: Slot, createdAt: Int64, activeFrom: Int64, signs: Bool) {
            self.kid = kid
            self.slot = slot
            self.createdAt = createdAt
            self.activeFrom = activeFrom
            self.signs = signs
        }
    }

    package enum State: String, Sendable {
        /// Published, not yet signing.
        case next
        case current
        /// No longer signs, but its tokens may still be valid.
        case retired
    }

    /// The due changes, applied together.
    package struct Change: Sendable, Equatable {
        /// The slots that need a new key, and when each starts signing.
        package var made: [Slot: Int64] = [:]
        /// IDs of keys that start signing immediately.
        package var promoted: [String] = []
        /// IDs of keys whose private half is deleted.
        package var erased: [String] = []
        package var removed: [String] = []

        package init() {}

        package var isEmpty: Bool { self == Change() }
    }

    /// How long a key is published before it signs, in seconds: much longer than verifiers may cache the documents, and
    /// than a node may be without the database.
    package static let lead: Int64 = 86_400
    /// How far the clocks of nodes and verifiers may differ, in seconds, with a large reserve.
    package static let margin: Int64 = 3600

    /// In the order in which they sign.
    package let keys: [Key]

    package init(_ keys: [Key]) {
        self.keys = keys.sorted { ($0.activeFrom, $0.kid) < ($1.activeFrom, $1.kid) }
    }

    /// When another key starts signing in a key's place; nil if none is planned.
    package func end(of key: Key) -> Int64? {
        let ofSlot = keys.filter { $0.slot == key.slot }
        guard let place = ofSlot.firstIndex(of: key), place + 1 < ofSlot.count else { return nil }
        return ofSlot[place + 1].activeFrom
    }

    /// Until when a key stays published; nil if no key follows it.
    package func removal(of key: Key) -> Int64? {
        end(of: key).map { $0 + key.slot.purpose.longestLife + Self.margin }
    }

    package func state(of key: Key, at now: Int64) -> State {
        guard key.activeFrom <= now else { return .next }
        guard let end = end(of: key), end <= now else { return .current }
        return .retired
    }

    /// The changes that are due: missing keys, keys that follow others, and the removal of expired keys.
    ///
    /// - Parameter period: how long a key signs, in seconds; nil for no rotation.
    package func due(at now: Int64, every period: Int64?) -> Change {
        var change = Change()
        for slot in Slot.all {
            guard let newest = keys.last(where: { $0.slot == slot }) else {
                change.made[slot] = now
                continue
            }
            if let period, newest.activeFrom + period - Self.lead <= now {
                change.made[slot] = max(newest.activeFrom + period, now + Self.lead)
            }
        }
        for key in keys {
            guard let end = end(of: key), let removal = removal(of: key) else { continue }
            if removal <= now {
                change.removed.append(key.kid)
            } else if key.signs, end + Self.margin <= now {
                change.erased.append(key.kid)
            }
        }
        return change
    }

    /// Creates a next key for each slot that has none.
    package func rotation(at now: Int64) -> Change {
        var change = Change()
        for slot in Slot.all where !keys.contains(where: { $0.slot == slot && $0.activeFrom > now }) {
            change.made[slot] = now + Self.lead
        }
        return change
    }

    /// Revokes a key immediately; if it is the current one, the next or a new key replaces it.
    ///
    /// Nil if there is no such key.
    package func revocation(of kid: String, at now: Int64) -> Change? {
        guard let key = keys.first(where: { $0.kid == kid }) else { return nil }
        var change = Change()
        change.removed = [kid]
        guard state(of: key, at: now) == .current else { return change }
        if let next = keys.first(where: { $0.slot == key.slot && $0.activeFrom > now }) {
            change.promoted = [next.kid]
        } else {
            change.made[key.slot] = now
        }
        return change
    }
}
