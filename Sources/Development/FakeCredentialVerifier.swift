package import Domain
package import Federation
import Secrets
import StrictJSON

/// Accepts the Firebase emulator's fake credentials: an `id_token` or `access_token` that is plain JSON, or a JWT with
/// `alg` none; for `saml.*`, a `SAMLResponse` in the emulator's JSON, with or without them; and, unverified, what Apple or
/// Google issued, unless the project's provider is the real one.
///
/// Anyone who can reach the service can sign in as anyone with these: only `identity dev` uses this, and nothing else
/// imports this module.
package struct FakeCredentialVerifier: CredentialVerifier {
    package init() {}

    package func verify(
        _ credential: DirectCredential,
        definition: ProviderDefinition?,
        id: ProviderID
    ) async throws(FederationError) -> FederatedCredential? {
        let assertion = try credential.samlResponse.map(Self.assertion)
        guard
            let claims = Self.claims(of: credential.idToken) ?? Self.claims(of: credential.accessToken)
                ?? Self.claims(ofReal: credential.idToken, definition, id)
                ?? assertion.map({ _ in "{}" })
        else { return nil }
        guard let object = (try? JSONValue(parsing: claims))?.object else { throw .unparsableIDToken }
        func text(_ names: String...) -> String? { names.lazy.compactMap { object[$0]?.string }.first }
        guard let subject = text("sub") ?? assertion?.nameID, !subject.isEmpty, subject.utf8.count <= 255 else {
            throw .missingSubject(claims: "{}")
        }
        let assertedEmail = assertion.flatMap { EmailAddress($0.nameID) }
        var profile = Profile(
            displayName: text("name", "display_name"),
            photoURL: text("picture", "photo_url"),
            screenName: text("screen_name", "login")
        )
        profile.firstName = text("given_name")
        profile.lastName = text("family_name")
        profile.language = text("locale")
        let identity = FederatedIdentity(
            provider: id,
            subject: subject,
            issuer: "",
            email: assertedEmail ?? text("email").flatMap(EmailAddress.init),
            emailVerifiedClaim: assertion != nil || [.bool(true), .string("true")].contains(object["email_verified"]),
            profile: profile
        )
        let tokens = ProviderTokens(
            idToken: credential.idToken?.reveal(),
            accessToken: credential.accessToken?.reveal(),
            tokenSecret: credential.tokenSecret?.reveal()
        )
        var result = FederatedCredential(unverified: object, identity, tokens, by: definition)
        if let assertion {
            (result.rawUserInfo, result.signInAttributes) = (assertion.attributes, assertion.attributes)
        }
        result.nonce = credential.nonce?.reveal()
        return result
    }

    /// The subject and attributes of the emulator's `{"assertion":{"subject":{"nameId":…},"attributeStatements":{…}}}`.
    private static func assertion(
        _ response: String
    ) throws(FederationError) -> (nameID: String, attributes: String) {
        guard let assertion = (try? JSONValue(parsing: response))?.object?["assertion"]?.object,
            let nameID = assertion["subject"]?.object?["nameId"]?.string
        else { throw .missingSubject(claims: "{}") }
        var attributes = JSONText()
        attributes.value(assertion["attributeStatements"] ?? .object(JSONObject()))
        return (nameID, attributes.text)
    }

    /// The claims of a token whose issuer the project's provider is not: a demo's, or nothing.
    private static func claims(ofReal token: Secret?, _ definition: ProviderDefinition?, _ id: ProviderID) -> String? {
        let issuers: [ProviderID: [String]] = [
            .apple: ["https://appleid.apple.com"], .google: ["https://accounts.google.com", "accounts.google.com"],
        ]
        // Of a provider that the project lacks, there is a definition without a client.
        let isReal = { definition?.variables["clientId"]?.isEmpty == false && definition?.issuers.contains($0) == true }
        guard let payload = token.flatMap({ CompactJWS($0.reveal()) })?.payload,
            let issuer = (try? JSONValue(parsing: payload))?.object?["iss"]?.string,
            issuers[id, default: []].contains(issuer), !isReal(issuer)
        else { return nil }
        return String(validating: payload, as: UTF8.self)
    }

    /// The JSON of a fake; nil for a real token, which other verifiers check.
    private static func claims(of token: Secret?) -> String? {
        token.flatMap { UnsignedJWT.payload(of: $0.reveal()) }.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
