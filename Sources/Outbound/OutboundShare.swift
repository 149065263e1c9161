/// The share of a host's requests that a task uses: requests of one share can take only a part of a host's limit, so one
/// project's calls cannot block another's access to a host that both use (T-E11).
package enum OutboundShare {
    /// Nil for requests of the service itself.
    @TaskLocal package static var current: String?

    /// Runs `work`, whose requests belong to a share.
    package static func with<Value, Failure: Error>(
        _ share: String,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await $current.withValue(share) {
            do throws(Failure) {
                let value = try await work()
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
