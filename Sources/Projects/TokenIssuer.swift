/// What a project's ID tokens have as `iss`: `identity.tokenIssuer` of its config.
package enum TokenIssuer: String, Sendable, Hashable, Codable, CaseIterable {
    /// `https://securetoken.google.com/{project}`, because Admin SDKs know no other.
    case firebase
    /// `{publicURL}/{project}`, below which the service describes itself to libraries of OpenID Connect.
    case own
}

extension Project {
    /// `iss` of the ID tokens that are made now; nil for one of the project's own on a node that does not know its URL.
    ///
    /// - Parameter url: where the service is, without a `/` at its end.
    package func issuer(at url: String?) -> String? {
        switch settings.tokenIssuer {
        case .firebase: firebaseIssuer
        case .own: url.map(ownIssuer)
        }
    }

    /// What `iss` may be in an ID token that is shown to us: those from before a change of the setting live on.
    package func issuers(at url: String?) -> [String] { [firebaseIssuer] + (url.map { [ownIssuer(at: $0)] } ?? []) }

    private var firebaseIssuer: String { "https://securetoken.google.com/\(id)" }

    private func ownIssuer(at url: String) -> String { "\(url)/\(id)" }
}
