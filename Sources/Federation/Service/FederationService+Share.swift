import Outbound
package import Projects

extension FederationService {
    /// Calls providers for a project, in its share of each host.
    package func calling<Value, Failure: Error>(
        for project: ProjectID,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await OutboundShare.with(project.rawValue, work)
    }
}
