import Postgres
package import Projects
import Storage

extension AccountsService {
    /// Reads from the replica if the project allows that and the replica is not too far behind; else, and if the replica
    /// fails, from the primary.
    ///
    /// For answers to admins only, never for what decides whether somebody may do something here.
    package func readingBehind<R>(
        _ project: Project,
        _ read: (AccountsService) async throws -> R
    ) async throws -> R {
        guard let stores = parts.stores.behind(by: project.settings.replicaStalenessSeconds) else {
            return try await read(self)
        }
        do {
            return try await read(AccountsService(parts.reading(stores)))
        } catch let error as PostgresError where error.code != .timeout && error.code != .cancelled {
            // A statement that took too long would take as long again.
            return try await read(self)
        }
    }
}
