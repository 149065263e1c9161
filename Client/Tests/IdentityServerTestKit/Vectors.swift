package import Foundation
import Testing

/// Tokens that PyJWT signed (`make_vectors.py`), valid and invalid.
package struct Vectors: Decodable, Sendable {
    package struct Case: Decodable, Sendable, CustomTestStringConvertible {
        package var name: String
        package var token: String
        package var error: String?
        package var cookie: Bool

        package var testDescription: String { name }
    }

    package var now: TimeInterval
    package var cases: [Case]

    package static let keys = Result { try document().keys }
    package static let all = Result { try document().vectors }

    private static func document() throws -> (keys: String, vectors: Vectors) {
        let data = Data(PackageResources.vectors_json)
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let keys = try JSONSerialization.data(withJSONObject: json?["keys"] ?? [:])
        return (String(decoding: keys, as: UTF8.self), try JSONDecoder().decode(Vectors.self, from: data))
    }

    /// The token of a case, by its name.
    package static func token(_ name: String) throws -> String {
        let cases = try all.get().cases
        guard let vector = cases.first(where: { $0.name == name }) else { throw CocoaError(.keyValueValidation) }
        return vector.token
    }
}
