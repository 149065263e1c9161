import Domain
import StrictJSON

extension ProviderDefinition {
    /// Sign in with Apple.
    ///
    /// Discovery is not used: in 2025 its `issuer` changed for a while, but the tokens' did not. Both are accepted.
    /// `variables` contain the team and the key; the client secret is the private key itself (PKCS#8 PEM), which signs
    /// each request's secret. ID tokens of native apps are accepted without it.
    static let apple = ProviderDefinition(.apple, "Apple", .oidc) { definition in
        definition.variables = ["base": "https://appleid.apple.com", "teamId": "", "keyId": ""]
        definition.issuers = ["{base}", "https://account.apple.com"]
        definition.endpoints = Endpoints(
            authorization: "{base}/auth/authorize",
            token: "{base}/auth/token",
            keys: "{base}/auth/keys",
            revocation: "{base}/auth/revoke"
        )
        definition.scopes = Scopes(["name", "email"])
        // Apple requires it if a name or an email is requested.
        definition.responseMode = .formPost
        // The ID token in the callback shows whose name is sent with it before the code is exchanged.
        definition.responseTypes = [ResponseType([.idToken]), .code]
        definition.pkce = .none
        definition.clientAuthentication = .appleSecret
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.idToken.lenientBooleans = true
        definition.claims.emailIsRelay = ["is_private_email"]
        definition.directSignIn = DirectSignIn(idToken: true)
        definition.revocation = RevocationRules(duty: true)
        definition.notifications = .apple
        definition.quirks = [.appleUser]
    }
}

/// What Apple sends with its tokens: the name, once, unsigned.
enum AppleUser {
    /// Applies a name that was stored from a sign-in that was not completed.
    static func apply(_ text: String, to identity: inout FederatedIdentity) {
        guard let name = name(text) else { return }
        identity.profile.displayName = [name.first, name.last].compactMap(\.self).joined(separator: " ")
        (identity.profile.firstName, identity.profile.lastName) = name
    }

    /// The name in `user={"name":{"firstName":…,"lastName":…},"email":…}`; its email is ignored.
    ///
    /// Nil for anything else, because an invalid name must not fail a sign-in.
    static func name(_ text: String?) -> (first: String?, last: String?)? {
        guard let text, text.utf8.count <= 4_096, let name = (try? JSONValue(parsing: text))?.object?["name"] else {
            return nil
        }
        func part(_ member: String) -> String? {
            guard let part = name[path: member]?.string, (1...128).contains(part.utf16.count),
                !part.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else { return nil }
            return part
        }
        let (first, last) = (part("firstName"), part("lastName"))
        return first == nil && last == nil ? nil : (first, last)
    }
}
