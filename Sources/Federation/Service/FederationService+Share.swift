import Outbound
package import Projects

extension FederationService {
    /// Calls providers for a caller who has proved nothing yet: such calls take a share of each host's connections, which
    /// is the project's own, so that no project's callers keep another's from a provider that both have (T-E11).
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
