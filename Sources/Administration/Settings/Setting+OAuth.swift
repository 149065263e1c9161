import OAuth
import Projects

extension Setting {
    /// The project as an OpenID provider for other applications.
    static let oauth: [Setting] = [
        flag(oauthEnabled, \.oauth.isEnabled),
        Setting(
            path: scopesPath,
            value: .map(
                Field(scopesPath, get: { $0.oauth.scopes }) { settings, scopes in
                    guard scopes.count <= 100,
                        scopes.allSatisfy({ Scopes.isName($0.key) && (1...200).contains($0.value.count) })
                    else {
                        throw AdministrationError.invalid(
                            "\(scopesPath) must have names without spaces that OpenID Connect does not use, and descriptions of at most 200 characters."
                        )
                    }
                    settings.oauth.scopes = scopes
                }
            )
        ),
        texts(
            "identity.oauth.resources",
            \.oauth.resources,
            atMost: 100,
            TextRule("list absolute URLs without a fragment, each once in any spelling", OAuthSettings.isResource),
            areDistinct: OAuthSettings.areDistinct
        ),
        flag("identity.oauth.registration", \.oauth.allowsRegistration),
        flag("identity.oauth.clientMetadataDocuments", \.oauth.allowsDocuments),
        seconds(
            "identity.oauth.accessTokenSeconds",
            \.oauth.accessTokenSeconds,
            in: OAuthSettings.accessTokenLifetimes
        ),
    ]

    static let oauthEnabled = "identity.oauth.enabled"
    private static let scopesPath = "identity.oauth.scopes"
}
