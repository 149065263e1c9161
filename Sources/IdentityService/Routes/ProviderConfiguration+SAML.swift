import Federation
import Linking
import Projects
import StrictJSON

extension ProviderConfiguration {
    /// Applies the request's members in the mask; `spCertificates` cannot be set.
    mutating func applySAML(_ body: WireObject, _ mask: FieldMask) throws {
        var saml = SAMLDefinition(overrides)
        let provider = try body.object("idpConfig") ?? WireObject()
        if mask.contains("idpConfig.idpEntityId") { saml.entityID = try provider.string("idpEntityId") ?? "" }
        if mask.contains("idpConfig.ssoUrl") { saml.ssoURL = try provider.string("ssoUrl") ?? "" }
        if mask.contains("idpConfig.signRequest") { saml.signsRequests = try provider.bool("signRequest") ?? false }
        if mask.contains("idpConfig.idpCertificates") {
            saml.certificates = try provider.objects("idpCertificates").map { try $0.string("x509Certificate") ?? "" }
        }
        let own = try body.object("spConfig") ?? WireObject()
        if mask.contains("spConfig.spEntityId") { saml.ownEntityID = try own.string("spEntityId") ?? "" }
        if mask.contains("spConfig.callbackUri") { saml.callbackURI = try own.string("callbackUri") ?? "" }
        overrides = JSONValue.object(saml.json).jsonText
    }

    func checkSAML() throws {
        let saml = SAMLDefinition(overrides)
        guard !saml.ownEntityID.isEmpty || !saml.callbackURI.isEmpty else {
            throw WireError("MISSING_SAML_RELYING_PARTY_CONFIG", "spConfig requires spEntityId and callbackUri.")
        }
        do throws(InvalidDefinition) { try saml.validate() } catch {
            throw WireError("INVALID_CONFIG", error.description)
        }
    }
}
