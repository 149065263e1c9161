package import Linking
package import struct Secrets.Secret

/// What a client sends as proof: the parameters of `requestUri`'s query, then `postBody`, then `requestUri`'s fragment;
/// the later one counts where a name may come twice.
package struct ProviderCallback: Sendable, CustomStringConvertible, CustomReflectable {
    /// `requestUri` without query and fragment.
    package let address: String
    private let parts: URLParts
    private let values: [String: String]

    /// Names that decide who signs in: never twice, in whatever places.
    ///
    /// `+` in their values is no space, because iOS sends values that it did not encode.
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
            for (encodedName, encodedValue) in FormText.pairs(text) {
                let name = FormText.decode(encodedName, plusIsSpace: true)
                let value = FormText.decode(encodedValue, plusIsSpace: !Self.literalPlus.contains(name))
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

    /// A parameter by its name; nil when absent or empty.
    package subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Lower-case, as Firebase reads it; nil when the callback does not name one.
    package var provider: ProviderID? { self["providerId"].map { ProviderID($0.lowercased()) } }
    /// The handle of the flow; a callback that has one is never a direct credential.
    package var state: Secret? { self["state"].map(Secret.init) }
    /// Whether the callback answers an authorization request, with a code, an error, or nothing but the state.
    package var isFlowAnswer: Bool {
        ["state", "code", "error", "denied", "oauth_verifier"].contains { self[$0] != nil }
    }

    /// Why the provider signed nobody in; nil when it does not say so.
    package var fault: FederationError? {
        if let error = self["error"] {
            return ProviderFault(code: error, description: self["error_description"]).callbackError
        }
        return self["denied"] == nil ? nil : .cancelled
    }

    /// The tokens that the client hands in by itself; nil when there is none.
    package var credential: DirectCredential? {
        guard self["id_token"] != nil || self["access_token"] != nil else { return nil }
        return DirectCredential(
            idToken: self["id_token"].map(Secret.init),
            accessToken: self["access_token"].map(Secret.init),
            tokenSecret: self["oauth_token_secret"].map(Secret.init),
            nonce: self["nonce"].map(Secret.init),
            user: self["user"]
        )
    }

    package var description: String { "<callback>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ProviderCallback {
    /// Whether the callback came to the address that was registered: scheme and host in any case, an empty path and `/`
    /// alike (R-47, R-55), the rest byte for byte; what the registered query has must be there.
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

extension URLParts {
    /// The port, or the one that the scheme implies; -1 for text that is no port, which equals nothing useful.
    fileprivate var effectivePort: Int? {
        guard let authority, let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            return ["http": 80, "https": 443][scheme]
        }
        let text = authority[authority.index(after: colon)...]
        if text.isEmpty { return ["http": 80, "https": 443][scheme] }
        return port ?? -1
    }
}
