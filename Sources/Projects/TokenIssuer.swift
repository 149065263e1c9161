/// The `iss` of a project's ID tokens: `identity.tokenIssuer` of its config.
package enum TokenIssuer: String, Sendable, Hashable, Codable, CaseIterable {
    /// `https://securetoken.google.com/{project}`, which Admin SDKs require.
    case firebase
    /// `{publicURL}/{project}`, below which the service publishes a discovery document for OpenID Connect libraries.
    case own
}

extension Project {
    /// `iss` of new ID tokens; nil for the project's own issuer on a node that does not know its URL.
    ///
    /// - Parameter url: the service's URL without a trailing `/`.
    package func issuer(at url: String?) -> String? {
        switch settings.tokenIssuer {
        case .firebase: firebaseIssuer
        case .own: url.map(ownIssuer)
        }
    }

    /// The accepted values of `iss` in ID tokens: tokens from before a change of the setting stay valid.
    package func issuers(at url: String?) -> [String] { [firebaseIssuer] + (url.map { [ownIssuer(at: $0)] } ?? []) }

    private var firebaseIssuer: String { "https://securetoken.google.com/\(id)" }

    private func ownIssuer(at url: String) -> String { "\(url)/\(id)" }
}
