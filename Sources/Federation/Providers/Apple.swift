import Linking
import StrictJSON

extension ProviderDefinition {
    /// Sign in with Apple.
    ///
    /// Discovery is not read: in 2025 its `issuer` changed for a while and the tokens' did not. Both are accepted.
    /// `variables` name the team and the key; the client secret is the private key itself (PKCS#8 PEM), with which each
    /// request's secret is signed. Without it ID tokens of native apps are accepted all the same.
    static let apple: ProviderDefinition = {
        var definition = ProviderDefinition(id: .apple, displayName: "Apple", protocolKind: .oidc)
        definition.variables = ["base": "https://appleid.apple.com", "teamId": "", "keyId": ""]
        definition.issuers = ["{base}", "https://account.apple.com"]
        definition.endpoints = Endpoints(
            authorization: "{base}/auth/authorize",
            token: "{base}/auth/token",
            keys: "{base}/auth/keys",
            revocation: "{base}/auth/revoke"
        )
        definition.scopes = Scopes(["name", "email"])
        // Apple insists on it where a name or an address is asked for.
        definition.responseMode = .formPost
        // The ID token in the callback says whose name comes with it before the code is exchanged.
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
        return definition
    }()
}

/// What Apple sends beside its tokens: the name, once, unsigned.
enum AppleUser {
    /// Takes a name that was kept from a sign-in that did not come to its end.
    static func apply(_ text: String, to identity: inout FederatedIdentity) {
        guard let name = name(text) else { return }
        identity.profile.displayName = [name.first, name.last].compactMap(\.self).joined(separator: " ")
        (identity.profile.firstName, identity.profile.lastName) = name
    }

    /// The name of `user={"name":{"firstName":…,"lastName":…},"email":…}`; its address is not believed.
    ///
    /// Nil for a text that is no such object: the name is a courtesy, not worth a failed sign-in.
    static func name(_ text: String?) -> (first: String?, last: String?)? {
        guard let text, text.utf8.count <= 4_096, let name = (try? JSONValue(text))?.object?["name"] else { return nil }
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
