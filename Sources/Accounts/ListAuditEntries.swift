import Foundation
package import Projects
package import Storage

extension AccountsService { package var listAuditEntries: ListAuditEntries { ListAuditEntries(service: self) } }

/// `auditEntries`: the audit log of a project and its accounts, newest first, page by page.
package struct ListAuditEntries: Sendable {
    let service: AccountsService

    /// The maximum number of entries in one response.
    package static let limit = 1000

    package struct Page: Sendable {
        package var entries: [RecordedChange]
        /// Nil on the last page.
        package var nextPageToken: String?
    }

    /// - Parameters:
    ///   - token: ``Page/nextPageToken`` of the previous page; nil for the first page.
    ///   - size: 1 to ``limit``.
    package func callAsFunction(
        _ query: AuditQuery,
        _ project: Project,
        after token: String?,
        size: Int
    ) async throws -> Page {
        let position: AuditPosition? = try token.map { text throws(AccountsError) in
            try PageToken.position(text) { UUID(uuidString: $0.entry) != nil && PageToken.isPossible($0.date) }
        }
        let page = try await service.stores.auditLog.page(query, of: project.id, after: position, size: size)
        return Page(entries: page.changes, nextPageToken: try page.next.map { try PageToken.text(of: $0) })
    }
}
