package import Domain
package import StrictJSON
import SystemCrypto
import Text
import X509

/// An admin's configuration of a SAML identity provider: `inboundSamlConfigs` without the common members.
///
/// It is stored for Admin SDKs and consoles; users cannot sign in with it.
package struct SAMLDefinition: Sendable, Hashable {
    /// `idpConfig.idpEntityId`.
    package var entityID = ""
    /// `idpConfig.ssoUrl`: the URL for requests.
    package var ssoURL = ""
    /// `idpConfig.signRequest`.
    package var signsRequests = false
    /// `idpConfig.idpCertificates`, in PEM.
    package var certificates: [String] = []
    /// `spConfig.spEntityId`: our entity ID at the provider.
    package var ownEntityID = ""
    /// `spConfig.callbackUri`.
    package var callbackURI = ""

    private static let longestText = 2_048
    private static let mostCertificates = 10

    /// Whether an ID can be configured: `saml.` and 1 to 64 of `[A-Za-z0-9_-]`.
    package static func isKnown(_ id: ProviderID) -> Bool { id.isSAML && ProviderDefinition.hasName(id) }

    /// - Parameter text: from ``json``; nil for an empty definition.
    package init(_ text: String?) {
        guard let json = text.flatMap({ try? JSONValue(parsing: $0) }) else { return }
        let (provider, own) = (json[path: "idpConfig"], json[path: "spConfig"])
        entityID = provider?[path: "idpEntityId"]?.string ?? ""
        ssoURL = provider?[path: "ssoUrl"]?.string ?? ""
        signsRequests = provider?[path: "signRequest"] == .bool(true)
        certificates =
            provider?[path: "idpCertificates"]?.array?.compactMap { $0[path: "x509Certificate"]?.string } ?? []
        ownEntityID = own?[path: "spEntityId"]?.string ?? ""
        callbackURI = own?[path: "callbackUri"]?.string ?? ""
    }

    /// `idpConfig` and `spConfig`, as they are returned and stored; flags are omitted if false.
    package var json: JSONObject {
        var provider = JSONObject()
        provider["idpEntityId"] = .string(entityID)
        provider["ssoUrl"] = .string(ssoURL)
        provider["signRequest"] = signsRequests ? .bool(true) : nil
        provider["idpCertificates"] = .array(
            certificates.map { .object(JSONObject([JSONObject.Member(name: "x509Certificate", value: .string($0))])) }
        )
        var own = JSONObject()
        own["spEntityId"] = .string(ownEntityID)
        own["callbackUri"] = .string(callbackURI)
        var json = JSONObject()
        json["idpConfig"] = .object(provider)
        json["spConfig"] = .object(own)
        return json
    }

    /// - Throws: ``InvalidDefinition``, whose text is for the admin.
    package func validate() throws(InvalidDefinition) {
        for (member, text) in [("idpConfig.idpEntityId", entityID), ("spConfig.spEntityId", ownEntityID)] {
            guard !text.isEmpty, text.utf8.count <= Self.longestText, !text.utf8.contains(where: { $0 < 32 }) else {
                throw InvalidDefinition(member: member, problem: "must be one line of 1 to \(Self.longestText) bytes")
            }
        }
        for (member, url) in [("idpConfig.ssoUrl", ssoURL), ("spConfig.callbackUri", callbackURI)] {
            guard url.utf8.count <= Self.longestText, Self.isWebURL(url) else {
                throw InvalidDefinition(member: member, problem: "must be an absolute https or http URL")
            }
        }
        guard (1...Self.mostCertificates).contains(certificates.count) else {
            throw InvalidDefinition(
                member: "idpConfig.idpCertificates",
                problem: "must be one to \(Self.mostCertificates) certificates"
            )
        }
        for (index, text) in certificates.enumerated() where !Self.isCertificate(text) {
            throw InvalidDefinition(
                member: "idpConfig.idpCertificates[\(index)].x509Certificate",
                problem: "must be an X.509 certificate in PEM or base64"
            )
        }
    }

    /// The browser is sent there: the same rules as for a redirect URI, except that custom schemes are not allowed.
    private static func isWebURL(_ text: String) -> Bool {
        RedirectURI.isAcceptable(text) && ["https", "http"].contains(URLParts(text)?.scheme ?? "")
    }

    private static func isCertificate(_ text: String) -> Bool {
        text.utf8.count <= 65_536 && Certificate.isIn(text)
    }
}
