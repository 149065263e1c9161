import Postgres
package import Projects
import Storage

extension AccountsService {
    /// Reads from the replica if the project allows that and the replica is not too far behind; else, and if the replica
    /// fails, from the primary.
    ///
    /// For answers to admins only, never for what decides whether somebody may do something here.
    ///
    /// - Parameter isComplete: whether the answer is one to keep; the primary is asked for any other.
    package func readingBehind<R>(
        _ project: Project,
        isComplete: (R) -> Bool = { _ in true },
        _ read: (AccountsService) async throws -> R
    ) async throws -> R {
        guard let stores = parts.stores.behind(by: project.settings.replicaStalenessSeconds) else {
            return try await read(self)
        }
        do {
            let answer = try await read(AccountsService(parts.reading(stores)))
            if isComplete(answer) { return answer }
        } catch let error as PostgresError where error.code != .cancelled {
            // The primary may still answer; a standby that does not is left at the next measurement.
        }
        return try await read(self)
    }
}
