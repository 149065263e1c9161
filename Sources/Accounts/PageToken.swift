import Foundation
import Secrets

/// A place among results, as text that its reader brings back: it holds nothing that they may not know, so it is not
/// sealed, and outlives every key.
enum PageToken {
    static func text(of position: some Encodable) throws -> String {
        Base64URL.encode([UInt8](try JSONEncoder().encode(position)))
    }

    /// - Parameter isPossible: whether the database can be asked for it.
    static func position<Position: Decodable>(
        _ text: String,
        where isPossible: (Position) -> Bool
    ) throws(AccountsError) -> Position {
        guard let bytes = Base64URL.decode(text),
            let position = try? JSONDecoder().decode(Position.self, from: Data(bytes)), isPossible(position)
        else { throw .invalidPage }
        return position
    }

    /// Whether the database has such a date.
    static func isPossible(_ date: Date) -> Bool { (Date.distantPast...Date.distantFuture).contains(date) }
}
