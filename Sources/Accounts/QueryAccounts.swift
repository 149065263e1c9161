import Foundation
package import Linking
package import Projects
import Secrets
package import Storage

/// `accounts:query`: the accounts that meet what an admin asks for, counted, listed, or page by page.
package struct QueryAccounts: Sendable {
    let parts: Parts

    /// How many accounts one answer holds at most.
    package static let limit = 500

    package struct Page: Sendable {
        package var accounts: [Account]
        /// Nil after the last page.
        package var nextPageToken: String?
    }

    package func count(_ query: AccountQuery, _ project: Project, _ tenant: TenantID) async throws -> Int64 {
        try await parts.accounts.count(query, in: Scope(project: project.id, tenant: tenant))
    }

    /// The accounts after the first `offset` of them.
    ///
    /// - Parameter limit: at most ``limit``.
    package func list(
        _ query: AccountQuery,
        offset: Int64,
        limit: Int,
        _ project: Project,
        _ tenant: TenantID
    ) async throws -> Page {
        let scope = Scope(project: project.id, tenant: tenant)
        return Page(accounts: try await parts.accounts.list(query, offset: offset, limit: limit, in: scope))
    }

    /// The accounts after a page; those that come or go meanwhile move none of the others.
    ///
    /// - Parameters:
    ///   - token: ``Page/nextPageToken`` of the page before, for the same query; nil for the first page.
    ///   - size: 1 to ``limit``.
    package func page(
        _ query: AccountQuery,
        after token: String?,
        size: Int,
        _ project: Project,
        _ tenant: TenantID
    ) async throws -> Page {
        let scope = Scope(project: project.id, tenant: tenant)
        let place = try Self.place(of: query, scope)
        let position = try token.map { text throws(AccountsError) in try open(text, for: place) }
        let page = try await parts.accounts.page(query, after: position, size: size, in: scope)
        let next = try page.next.map { try parts.keyRing.seal([UInt8](JSONEncoder().encode($0)), for: place) }
        return Page(accounts: page.accounts, nextPageToken: next.map { Base64URL.encode($0) })
    }

    /// A position may hold an address: it is sealed, and good for the query that it came from alone.
    private static func place(of query: AccountQuery, _ scope: Scope) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let query = String(decoding: try encoder.encode(query), as: UTF8.self)
        return "accounts:query/\(scope.project)/\(scope.tenant)/\(query)"
    }

    private func open(_ token: String, for place: String) throws(AccountsError) -> AccountPosition {
        guard let sealed = Base64URL.decode(token), let bytes = try? parts.keyRing.open(sealed, for: place),
            let position = try? JSONDecoder().decode(AccountPosition.self, from: Data(bytes))
        else { throw .invalidPage }
        return position
    }
}
