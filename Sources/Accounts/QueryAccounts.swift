package import Domain
import Foundation
package import Projects
import Secrets
package import Storage

extension AccountsService { package var queryAccounts: QueryAccounts { QueryAccounts(service: self) } }

/// `accounts:query`: counts, lists or pages the accounts that match an admin's query.
package struct QueryAccounts: Sendable {
    let service: AccountsService

    /// The maximum number of accounts in one response.
    package static let limit = 500

    package struct Page: Sendable {
        package var accounts: [Account]
        /// Nil on the last page.
        package var nextPageToken: String?
    }

    package func count(_ query: AccountQuery, _ project: Project) async throws -> Int64 {
        try await service.accounts.count(query, in: project.scope)
    }

    /// The accounts after the first `offset` of them.
    ///
    /// - Parameter limit: at most ``limit``.
    package func list(
        _ query: AccountQuery,
        offset: Int64,
        limit: Int,
        _ project: Project
    ) async throws -> Page {
        let scope = project.scope
        return Page(accounts: try await service.accounts.list(query, offset: offset, limit: limit, in: scope))
    }

    /// The accounts after a page; accounts that are created or deleted in between do not shift the others.
    ///
    /// - Parameters:
    ///   - token: ``Page/nextPageToken`` of the previous page of the same query; nil for the first page.
    ///   - size: 1 to ``limit``.
    package func page(
        _ query: AccountQuery,
        after token: String?,
        size: Int,
        _ project: Project
    ) async throws -> Page {
        let scope = project.scope
        let place = try Self.place(of: query, scope)
        let position = try token.map { text throws(AccountsError) in try open(text, for: place) }
        return try seal(await service.accounts.page(query, after: position, size: size, in: scope), for: place)
    }

    /// A page of the console's list: complete if it is sorted by creation and its conditions are on sign-in methods,
    /// state and creation; else it may end early, like ``page(_:after:size:_:_:)``.
    ///
    /// - Parameter token: of the same query's previous page; nil for the first page.
    package func search(
        _ query: AccountQuery,
        after token: String?,
        size: Int,
        _ project: Project
    ) async throws -> Page {
        let scope = project.scope
        let place = try Self.place(of: query, scope)
        let position = try token.map { text throws(AccountsError) in try open(text, for: place) }
        return try seal(await service.accounts.search(query, after: position, size: size, in: scope), for: place)
    }

    /// The accounts that match a query, page by page; the export is in the audit log before the first.
    package func export(_ query: AccountQuery, _ project: Project) async throws -> Export {
        let scope = project.scope
        try await service.stores.auditLog.record(.accountsExported, in: scope, at: service.now())
        return Export(query: query, scope: scope, accounts: service.accounts)
    }

    /// An export in progress.
    package actor Export {
        private let query: AccountQuery
        private let scope: Scope
        private let accounts: AccountStore
        private var position: AccountPosition?
        private var isAtEnd = false

        fileprivate init(query: AccountQuery, scope: Scope, accounts: AccountStore) {
            (self.query, self.scope, self.accounts) = (query, scope, accounts)
        }

        /// At most ``QueryAccounts/limit`` accounts, even none; nil at the end.
        package func next() async throws -> [Account]? {
            guard !isAtEnd else { return nil }
            let page = try await accounts.search(query, after: position, size: QueryAccounts.limit, in: scope)
            position = page.next
            isAtEnd = page.next == nil
            return page.accounts
        }
    }

    private func seal(_ page: AccountPage, for place: String) throws -> Page {
        let next = try page.next.map { try service.keyRing.seal([UInt8](JSONEncoder().encode($0)), for: place) }
        return Page(accounts: page.accounts, nextPageToken: next.map { Base64URL.encode($0) })
    }

    /// A position may contain an email, so it is sealed, and valid only for its own query.
    private static func place(of query: AccountQuery, _ scope: Scope) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let query = String(decoding: try encoder.encode(query), as: UTF8.self)
        return "accounts:query/\(scope.project)/\(scope.tenant)/\(query)"
    }

    private func open(_ token: String, for place: String) throws(AccountsError) -> AccountPosition {
        guard let sealed = Base64URL.decode(token), let bytes = try? service.keyRing.open(sealed, for: place),
            let position = try? JSONDecoder().decode(AccountPosition.self, from: Data(bytes))
        else { throw .invalidPage }
        return position
    }
}
