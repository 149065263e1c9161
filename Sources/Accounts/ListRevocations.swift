import Foundation
package import Projects
package import Storage

extension AccountsService { package var listRevocations: ListRevocations { ListRevocations(service: self) } }

/// `revocations`: the unexpired tokens that were revoked, for resource servers that verify tokens themselves.
///
/// A reader continues with the cursor of the previous response. Each revocation is returned at least once. Because it
/// is found by the time of the change, a reading repeats the last two minutes of the previous one, for changes that
/// were committed late or by a node whose clock is behind. Readers skip known IDs.
package struct ListRevocations: Sendable {
    let service: AccountsService

    /// The maximum number of revocations in one response.
    package static let limit = 1000
    /// Seconds by which readings overlap: more than a change takes from its time to its commit.
    package static let overlap = 120.0
    /// Possible lifetimes of our tokens in seconds: an hour for an ID token, up to two weeks for a session cookie.
    package static let lifetimes: ClosedRange<Int64> = 1...1_209_600

    package struct Page: Sendable {
        package var revocations: [Revocation]
        /// Where the next response continues.
        package var cursor: String
        /// Whether more are available now.
        package var hasMore: Bool
    }

    /// - Parameters:
    ///   - cursor: ``Page/cursor``; nil to start.
    ///   - lifetime: in ``lifetimes``: the lifetime of the tokens that the reader accepts; the first response starts
    ///     that long ago.
    ///   - size: 1 to ``limit``.
    package func callAsFunction(
        _ project: Project,
        after cursor: String?,
        lifetime: Int64,
        size: Int
    ) async throws -> Page {
        let settled = service.now().addingTimeInterval(-Self.overlap)
        let begin = RevocationPosition(date: settled.addingTimeInterval(-Double(lifetime)))
        let cursor = try cursor.map(Cursor.init(text:)) ?? Cursor(position: begin)
        // A reading of several pages ends at a point before which nothing could be missed when it started.
        let end = cursor.end ?? settled
        let found = try await service.sessions.revocations(in: project.id, after: cursor.position, limit: size)
        guard found.count == size, let last = found.last else {
            let next = Cursor(position: RevocationPosition(date: end))
            return Page(revocations: found, cursor: try next.text, hasMore: false)
        }
        let next = Cursor(position: RevocationPosition(of: last), end: end)
        return Page(revocations: found, cursor: try next.text, hasMore: true)
    }

    private struct Cursor: Codable {
        var position: RevocationPosition
        /// Where the reading after this one starts; nil between readings.
        var end: Date?

        init(position: RevocationPosition, end: Date? = nil) {
            self.position = position
            self.end = end
        }

        init(text: String) throws(AccountsError) {
            self = try PageToken.position(text) { cursor in
                [cursor.position.date, cursor.end ?? .distantPast].allSatisfy(PageToken.isPossible)
                    && [cursor.position.tenant ?? "", cursor.position.owner, cursor.position.session].allSatisfy {
                        !$0.utf8.contains(0)
                    }
            }
        }

        var text: String {
            get throws { try PageToken.text(of: self) }
        }
    }
}
