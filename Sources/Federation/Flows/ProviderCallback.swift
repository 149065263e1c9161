package import Domain
package import struct Secrets.Secret
import Text

/// A client's proof: the parameters of `requestUri`'s query, then `postBody`, then `requestUri`'s fragment; later ones
/// take precedence if a name may be repeated.
package struct ProviderCallback: Sendable, CustomStringConvertible, CustomReflectable {
    /// `requestUri` without query and fragment.
    package let address: String
    private let parts: URLParts
    private let values: [String: String]

    /// Names that determine the identity: never allowed twice, in whatever place.
    ///
    /// `+` in their values is not a space, because iOS sends values without encoding them. In a fake credential, which is
    /// JSON, it is one: Python's and Java's form encoders write it.
    private static let decisive: Set<String> = [
        "code", "state", "id_token", "access_token", "oauth_token_secret", "oauth_token", "oauth_verifier", "error",
        "iss", "nonce", "user", "SAMLResponse", "denied",
    ]
    private static let literalPlus = decisive.subtracting(["error", "user"]).union(["pendingToken", "RelayState"])

    /// - Throws: ``FederationError/invalidRequestURI``, ``FederationError/duplicateParameter(name:)``.
    package init(requestURI: String, postBody: String?) throws(FederationError) {
        guard let parts = URLParts(requestURI) else { throw .invalidRequestURI }
        var values: [String: String] = [:]
        for text in [parts.query, postBody, parts.fragment].compactMap(\.self) {
            for (encodedName, encodedValue) in FormFields.split(text) {
                let name = PercentEncoding.decodeLeniently(encodedName, plusIsSpace: true)
                let isJSON = encodedValue.hasPrefix("{") || encodedValue.lowercased().hasPrefix("%7b")
                let value = PercentEncoding.decodeLeniently(
                    encodedValue,
                    plusIsSpace: isJSON || !Self.literalPlus.contains(name)
                )
                if values.updateValue(value, forKey: name) != nil, Self.decisive.contains(name) {
                    throw .duplicateParameter(name: name)
                }
            }
        }
        self.parts = parts
        self.values = values
        let end =
            requestURI.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? requestURI.endIndex
        self.address = String(requestURI[..<end])
    }

    /// A parameter by name; nil if absent or empty.
    package subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Lowercase, as Firebase reads it; nil if the callback does not name one.
    package var provider: ProviderID? { self["providerId"].map { ProviderID($0.lowercased()) } }
    /// The handle of the flow; a callback with a state is never a direct credential.
    package var state: Secret? { self["state"].map(Secret.init) }
    /// Whether the callback responds to an authorization request, with a code, an error, or only the state.
    package var isFlowAnswer: Bool {
        ["state", "code", "error", "denied", "oauth_verifier"].contains { self[$0] != nil }
    }

    /// The provider's error; nil if it states none.
    package var fault: FederationError? {
        if let error = self["error"] {
            return ProviderFault(code: error, description: self["error_description"]).callbackError
        }
        return self["denied"] == nil ? nil : .cancelled
    }

    /// The tokens that the client sends itself; nil if there are none.
    package var credential: DirectCredential? {
        // A real SAML response is base64.
        let samlResponse = self["SAMLResponse"].flatMap { $0.hasPrefix("{") ? $0 : nil }
        guard self["id_token"] != nil || self["access_token"] != nil || samlResponse != nil else { return nil }
        return DirectCredential(
            idToken: self["id_token"].map(Secret.init),
            accessToken: self["access_token"].map(Secret.init),
            tokenSecret: self["oauth_token_secret"].map(Secret.init),
            nonce: self["nonce"].map(Secret.init),
            user: self["user"],
            samlResponse: samlResponse
        )
    }

    package var description: String { "<callback>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ProviderCallback {
    /// Whether the callback arrived at the registered address: scheme and host in any case, an empty path equals `/`
    /// (R-47, R-55), the rest byte for byte; everything in the registered query must be present.
    package func came(to registered: String) -> Bool {
        guard let other = URLParts(registered), other.fragment == nil else { return false }
        guard parts.scheme == other.scheme, parts.host == other.host, !parts.hasUserInfo, !other.hasUserInfo,
            parts.effectivePort == other.effectivePort
        else { return false }
        let path = parts.path.isEmpty ? "/" : parts.path
        let otherPath = other.path.isEmpty ? "/" : other.path
        guard path == otherPath, (parts.authority ?? "").isEmpty == (other.authority ?? "").isEmpty else {
            return false
        }
        guard let registeredQuery = other.query else { return true }
        let sent = Set((parts.query ?? "").split(separator: "&"))
        return registeredQuery.split(separator: "&").allSatisfy(sent.contains)
    }
}
