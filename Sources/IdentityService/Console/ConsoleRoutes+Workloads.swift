import Administration
import Foundation
import Projects
import Storage

extension ConsoleRoutes {
    /// The project's workloads, on the page of its keys; those of all projects belong to the operator.
    ///
    /// - Parameter revoking: the form that revokes the one with this ID.
    func workloads(of project: ProjectID, revoking: (_ id: String) -> HTML) async throws -> HTML {
        let rows = try await administration.workloads.list(of: project).map { listed -> [HTML] in
            let workload = listed.credential
            let claims = workload.claims.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ", ")
            let end = workload.expiresAt.map { Date(timeIntervalSince1970: Double($0)) }
            return [
                "<code>\(workload.id)</code><br><bdi>\(workload.name)</bdi>",
                "<bdi>\(workload.issuer)</bdi><br><bdi>\(claims)</bdi>",
                "\(workload.scopes.map(\.rawValue).sorted().joined(separator: ", "))",
                ConsoleText.time(listed.createdAt), listed.lastUsedAt.map { ConsoleText.time($0) } ?? "never",
                end.map { ConsoleText.time($0) } ?? "never", workload.disabled ? "revoked" : revoking(workload.id),
            ]
        }
        let table = ConsoleText.table(
            "Workloads",
            ["Workload", "Tokens", "Scopes", "Created", "Last used", "Expires", ""],
            rows
        )
        return ConsoleText.section(
            "workloads",
            "Workloads",
            table,
            else:
                "No workloads. <code>identity workloads create</code> lets CI jobs and pods use the admin API without a secret."
        )
    }
}
