import Foundation
import Secrets

/// An answer of the service.
package struct Reply: Sendable, CustomStringConvertible {
    package let response: PlainResponse
    /// Null when the body is no JSON.
    package let json: JSON

    package init(_ response: PlainResponse) {
        self.response = response
        json = (try? JSON(parsing: response.body)) ?? .null
    }

    package var status: Int { response.status }
    package subscript(name: String) -> JSON? { json[name] }

    /// `error.message`: the code, and its detail after ` : `.
    package var error: String? { json["error"]?["message"]?.string }
    /// The code of ``error`` without its detail.
    package var code: String? { error.map { String($0.prefix { $0 != " " }) } }

    package var idToken: String? { json["idToken"]?.string ?? json["id_token"]?.string }
    package var refreshToken: String? { json["refreshToken"]?.string ?? json["refresh_token"]?.string }
    package var localID: String? { json["localId"]?.string }
    package var pendingToken: String? { json["pendingToken"]?.string }

    /// The claims of the ID token, unverified.
    package var claims: JSON { idToken.map(Self.claims) ?? .null }

    package static func claims(of token: String) -> JSON {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return .null }
        return (try? JSON(parsing: payload)) ?? .null
    }

    package var description: String { "\(status) \(response.text.prefix(600))" }
}
