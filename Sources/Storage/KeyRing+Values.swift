import Foundation
import Secrets

extension KeyRing {
    /// Seals a value, as JSON, for its place.
    func seal(json value: some Encodable, for place: String) throws -> [UInt8] {
        try seal([UInt8](JSONEncoder().encode(value)), for: place)
    }

    /// Opens a value that ``seal(json:for:)`` sealed for the same place.
    func openJSON<Value: Decodable>(_ sealed: [UInt8], for place: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(try open(sealed, for: place)))
    }
}
