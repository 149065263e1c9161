import Foundation
package import Projects
package import Storage

/// `revocations`: which tokens that have not expired are void, for whoever verifies them without asking us each time.
///
/// A reader goes on with the cursor of the answer before. What was revoked comes at least once: it is found by the time of
/// the change, so a reading looks again at the last two minutes of the one before, for what was committed meanwhile or
/// written by a node whose clock is behind. Readers drop what they know by its id.
package struct ListRevocations: Sendable {
    let parts: Parts

    /// How many revocations one answer holds at most.
    package static let limit = 1000
    /// Seconds that readings overlap: more than a change takes from its time to its commit.
    package static let overlap = 120.0
    /// Seconds for which a token of ours may be good: an hour for an ID token, two weeks for a session cookie.
    package static let lifetimes: ClosedRange<Int64> = 1...1_209_600

    package struct Page: Sendable {
        package var revocations: [Revocation]
        /// Where the next answer goes on.
        package var cursor: String
        /// Whether there is more already.
        package var hasMore: Bool
    }

    /// - Parameters:
    ///   - cursor: ``Page/cursor``; nil to begin.
    ///   - lifetime: in ``lifetimes``: how long the tokens that the reader takes are good; a first answer begins that long ago.
    ///   - size: 1 to ``limit``.
    package func callAsFunction(
        _ project: Project,
        after cursor: String?,
        lifetime: Int64,
        size: Int
    ) async throws -> Page {
        let settled = parts.now().addingTimeInterval(-Self.overlap)
        let begin = RevocationPosition(date: settled.addingTimeInterval(-Double(lifetime)))
        let cursor = try cursor.map(Cursor.init(text:)) ?? Cursor(position: begin)
        // A reading of several pages leaves off where it might have missed something when it began.
        let end = cursor.end ?? settled
        let found = try await parts.sessions.revocations(in: project.id, after: cursor.position, limit: size)
        guard found.count == size, let last = found.last else {
            let next = Cursor(position: RevocationPosition(date: end))
            return Page(revocations: found, cursor: try next.text, hasMore: false)
        }
        let next = Cursor(position: RevocationPosition(of: last), end: end)
        return Page(revocations: found, cursor: try next.text, hasMore: true)
    }

    private struct Cursor: Codable {
        var position: RevocationPosition
        /// Where the reading after this one begins; nil between readings.
        var end: Date?

        init(position: RevocationPosition, end: Date? = nil) {
            self.position = position
            self.end = end
        }

        init(text: String) throws(AccountsError) {
            self = try PageToken.position(text) { cursor in
                [cursor.position.date, cursor.end ?? .distantPast].allSatisfy(PageToken.isPossible)
                    && [cursor.position.owner, cursor.position.session].allSatisfy { !$0.utf8.contains(0) }
            }
        }

        var text: String {
            get throws { try PageToken.text(of: self) }
        }
    }
}
