package import Domain
package import StrictJSON

extension FederatedCredential {
    /// A credential of claims that nobody signed, for `identity dev`, by the mapping of the provider's real ones.
    ///
    /// - Parameters:
    ///   - identity: receives the issuer and the names that the provider's paths find.
    ///   - definition: nil for a provider that has none: then the claims stay as they are.
    package init(
        unverified claims: JSONObject,
        _ identity: FederatedIdentity,
        _ tokens: ProviderTokens,
        by definition: ProviderDefinition?
    ) {
        self.init(
            identity: identity,
            tokens: tokens,
            rawUserInfo: JSONValue.object(claims).jsonText,
            federatedID: definition?.federatedID(for: identity.subject) ?? identity.subject,
            believesEmailClaim: true
        )
        guard let definition else { return }
        let mapping = IdentityMapping(unverified: claims, by: definition)
        let issuer = definition.canonicalIssuer(for: claims)
        // A link without an issuer accepts the first that signs in with it.
        self.identity.issuer = issuer.contains("{") ? "" : issuer
        self.identity.profile.fill(from: mapping.unverifiedProfile)
        rawUserInfo = mapping.rawUserInfo
        signInAttributes = mapping.signInAttributes
    }
}
