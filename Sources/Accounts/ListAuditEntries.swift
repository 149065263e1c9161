import Foundation
package import Projects
import Secrets
package import Storage

/// `auditEntries`: what the audit log says of a project and its accounts, the newest first, page by page.
package struct ListAuditEntries: Sendable {
    let parts: Parts

    /// How many entries one answer holds at most.
    package static let limit = 1000

    package struct Page: Sendable {
        package var entries: [RecordedChange]
        /// Nil after the last page.
        package var nextPageToken: String?
    }

    /// - Parameters:
    ///   - token: ``Page/nextPageToken`` of the page before; nil for the first page.
    ///   - size: 1 to ``limit``.
    package func callAsFunction(
        _ query: AuditQuery,
        _ project: Project,
        after token: String?,
        size: Int
    ) async throws -> Page {
        let position = try token.map { text throws(AccountsError) in try Self.position(text) }
        let page = try await parts.stores.auditLog.page(query, of: project.id, after: position, size: size)
        // It names an entry, which whoever may read it has read.
        let next = try page.next.map { Base64URL.encode([UInt8](try JSONEncoder().encode($0))) }
        return Page(entries: page.changes, nextPageToken: next)
    }

    private static func position(_ token: String) throws(AccountsError) -> AuditPosition {
        guard let bytes = Base64URL.decode(token),
            let position = try? JSONDecoder().decode(AuditPosition.self, from: Data(bytes)),
            UUID(uuidString: position.entry) != nil,
            (Date.distantPast...Date.distantFuture).contains(position.date)
        else { throw .invalidPage }
        return position
    }
}
