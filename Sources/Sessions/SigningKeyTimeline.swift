/// The signing keys of the deployment by their dates, which alone say what state each is in, and what is to change.
///
/// It is a pure function of the rows and the time: every node comes to the same.
package struct SigningKeyTimeline: Sendable {
    /// What one key at a time signs.
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
        /// When it begins to sign.
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
        /// Published, and not signing yet.
        case next
        case current
        /// It signs no more, and what it signed may still live.
        case retired
    }

    /// What is to change, all at once.
    package struct Change: Sendable, Equatable {
        /// For which slots a key is to be made, and when it begins to sign.
        package var made: [Slot: Int64] = [:]
        /// Keys that sign at once, by their ids.
        package var promoted: [String] = []
        /// Keys that lose their private half.
        package var erased: [String] = []
        package var removed: [String] = []

        package init() {}

        package var isEmpty: Bool { self == Change() }
    }

    /// How long a key is published before it signs, in seconds: much longer than anybody may keep a copy of the
    /// documents, and than any node may be without the database.
    package static let lead: Int64 = 86_400
    /// How far apart the clocks of nodes and of those who verify may be, in seconds, with much to spare.
    package static let margin: Int64 = 3600

    /// In the order in which they sign.
    package let keys: [Key]

    package init(_ keys: [Key]) {
        self.keys = keys.sorted { ($0.activeFrom, $0.kid) < ($1.activeFrom, $1.kid) }
    }

    /// When another key begins to sign in a key's place; nil while none is to.
    package func end(of key: Key) -> Int64? {
        let ofSlot = keys.filter { $0.slot == key.slot }
        guard let place = ofSlot.firstIndex(of: key), place + 1 < ofSlot.count else { return nil }
        return ofSlot[place + 1].activeFrom
    }

    /// Until when a key stays published; nil while none is to follow it.
    package func removal(of key: Key) -> Int64? {
        end(of: key).map { $0 + key.slot.purpose.longestLife + Self.margin }
    }

    package func state(of key: Key, at now: Int64) -> State {
        guard key.activeFrom <= now else { return .next }
        guard let end = end(of: key), end <= now else { return .current }
        return .retired
    }

    /// What is due: keys that nobody made yet, those that are to follow others, and the end of those whose time is over.
    ///
    /// - Parameter period: for how long a key signs, in seconds; nil for as long as nobody says otherwise.
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

    /// A next key wherever there is none.
    package func rotation(at now: Int64) -> Change {
        var change = Change()
        for slot in Slot.all where !keys.contains(where: { $0.slot == slot && $0.activeFrom > now }) {
            change.made[slot] = now + Self.lead
        }
        return change
    }

    /// The end of a key at once; where it is the one that signs, the next one or a new one does from now on.
    ///
    /// Nil when there is no such key.
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
