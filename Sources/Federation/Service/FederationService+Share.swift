import Outbound
package import Projects

extension FederationService {
    /// Calls providers for an unauthenticated caller.
    ///
    /// Such calls use a share of each host's connections that belongs to the project, so one project's callers cannot
    /// block another's access to a provider that both use (T-E11).
    package func calling<Value, Failure: Error>(
        for project: ProjectID,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await OutboundShare.$current.withValue(project.rawValue) {
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
