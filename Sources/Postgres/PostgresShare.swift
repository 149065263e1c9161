/// Whose statements a task runs: those of one share get only a part of the places in a client's queue, and take turns
/// with the others, so that one network's requests cannot keep everybody from the database (threats.md, T-E36).
package enum PostgresShare {
    /// Nil for statements of the service itself, or of several networks.
    @TaskLocal package static var current: String?

    /// Runs `work`, whose statements belong to a share.
    package static func with<Value>(_ share: String?, _ work: () async throws -> Value) async rethrows -> Value {
        try await $current.withValue(share, operation: work)
    }
}
