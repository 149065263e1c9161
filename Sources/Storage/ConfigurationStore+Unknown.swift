import Synchronization
import struct Foundation.Date

extension ConfigurationStore {
    /// What the node's view has, or has after a look at the database: it may have been made a moment ago, on another node.
    ///
    /// Whoever asks for what does not exist costs a statement, so looks are few each second, and fewer for one network;
    /// above that the view answers.
    ///
    /// - Parameters:
    ///   - network: the caller's address prefix; nil if it is not known.
    ///   - find: looks at the view.
    package func findingNew<R>(from network: String?, _ find: () throws -> R?) async rethrows -> R? {
        if let found = try find() { return found }
        guard looks.withLock({ $0.take(network, at: Int64(now().timeIntervalSince1970)) }) else { return nil }
        do { try await refresh() } catch {
            // It is logged twice a second already.
            return nil
        }
        return try find()
    }
}

/// The looks at the database of the current second.
struct UnknownLooks: Sendable {
    private static let limit = 20
    private static let limitOfNetwork = 5

    private var second: Int64 = 0
    private var taken = 0
    private var takenBy: [String: Int] = [:]

    mutating func take(_ network: String?, at second: Int64) -> Bool {
        if second != self.second { (self.second, taken, takenBy) = (second, 0, [:]) }
        let network = network ?? ""
        guard taken < Self.limit, takenBy[network, default: 0] < Self.limitOfNetwork else { return false }
        taken += 1
        takenBy[network, default: 0] += 1
        return true
    }
}
