import Foundation
import Secrets

/// A position in results, as text that the client sends back: it contains nothing secret, so it is not sealed, and
/// stays valid when keys change.
package enum PageToken {
    package static func text(of position: some Encodable) throws -> String {
        Base64URL.encode([UInt8](try JSONEncoder().encode(position)))
    }

    /// - Parameter isPossible: whether the database can represent it.
    static func position<Position: Decodable>(
        _ text: String,
        where isPossible: (Position) -> Bool
    ) throws(AccountsError) -> Position {
        guard let bytes = Base64URL.decode(text),
            let position = try? JSONDecoder().decode(Position.self, from: Data(bytes)), isPossible(position)
        else { throw .invalidPage }
        return position
    }

    /// The ID after which a list goes on; nil for the first page.
    package static func id(_ text: String?) throws(AccountsError) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return try position(text) { (id: String) in !id.isEmpty && !id.utf8.contains(0) }
    }

    /// Whether the database can represent a date.
    static func isPossible(_ date: Date) -> Bool { (Date.distantPast...Date.distantFuture).contains(date) }
}
