import Domain
package import Projects
import Storage

extension AccountsService { package var deleteAccounts: DeleteAccounts { DeleteAccounts(service: self) } }

/// Deletes accounts for an admin, each independently of the others.
package struct DeleteAccounts: Sendable {
    let service: AccountsService

    /// The maximum number of accounts in one request.
    package static let limit = 1_000
    /// The number of simultaneous deletions: half of a node's connections remain for other requests.
    private static let width = 4

    /// - Parameter force: also deletes accounts that are not disabled, as every Admin SDK requests.
    /// - Returns: the indices of accounts that were kept because they are not disabled. An unknown ID is not an error.
    package func callAsFunction(
        _ localIDs: [String],
        force: Bool,
        _ project: Project
    ) async throws -> [Int] {
        guard !localIDs.isEmpty, localIDs.count <= Self.limit else { throw AccountsError.tooManyLocalIDs }
        return try await withThrowingTaskGroup(of: Int?.self) { group in
            var left: [Int] = []
            for (index, localID) in localIDs.enumerated() {
                if index >= Self.width, let refused = try await group.next() ?? nil { left.append(refused) }
                group.addTask { try await delete(localID, force: force, project) ? nil : index }
            }
            for try await refused in group { if let refused { left.append(refused) } }
            return left.sorted()
        }
    }

    private func delete(
        _ localID: String,
        force: Bool,
        _ project: Project
    ) async throws -> Bool {
        guard let account = try? AdminAccounts.accountID(localID) else { return true }
        do {
            _ = try await service.change(named: account, Caller(project: project)) { found, _ in
                guard force || found.isDisabled else { throw NotDisabled() }
                var changes = AccountChanges()
                changes.deletesAccount = true
                return changes
            }
            return true
        } catch is NotDisabled {
            return false
        } catch AccountsError.userNotFound {
            return true
        }
    }

    private struct NotDisabled: Error {}
}
