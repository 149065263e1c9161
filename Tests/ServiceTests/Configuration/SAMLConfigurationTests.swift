import Domain
import FoundationEssentials
import Projects
import Sessions
import Storage
import Testing
import TestKit

/// `inboundSamlConfigs`: SAML providers are configured as Admin SDKs do it, and nobody signs in by them.
@Suite("Configuring SAML providers", .database)
struct SAMLConfigurationTests {
    private static let certificate = Result {
        try SigningKey.generate(.es256, notBefore: 1_800_000_000, notAfter: 1_900_000_000).certificatePEM
    }

    static func acme() throws -> JSON {
        [
            "displayName": "Acme", "enabled": true,
            "idpConfig": [
                "idpEntityId": "https://login.acme.example/metadata", "ssoUrl": "https://login.acme.example/sso?x=1",
                "signRequest": true, "idpCertificates": [["x509Certificate": .string(try certificate.get())]],
            ],
            "spConfig": ["spEntityId": "my-app", "callbackUri": "https://my-app.example/__/auth/handler"],
        ]
    }

    /// Acme with one member of one of its parts changed, or, with nil, taken away.
    private static func acme(_ part: String, _ member: String, _ value: JSON) throws -> JSON {
        let acme = try acme()
        return acme.merging([part: (acme[part] ?? [:]).merging([member: value])])
    }

    private static let collection = "inboundSamlConfigs"

    private func send(
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        in place: String = "",
        to service: TestService
    ) async throws -> Reply {
        try await service.admin(place + path, body, method: method, version: "v2")
    }

    @Test("one is created, read, listed, changed by masks and deleted", arguments: [false, true])
    func life(inTenant: Bool) async throws {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        try await TestService.run(options) { service in
            let tenant = try await service.makeTenant("Northwind")
            let places = ["", "tenants/\(tenant)/"]
            let (place, other) = inTenant ? (places[1], places[0]) : (places[0], places[1])
            let acme = try Self.acme()
            let name = "projects/\(service.project.number)/\(place)\(Self.collection)/saml.acme"
            let created = try await send(
                "POST",
                "\(Self.collection)?inboundSamlConfigId=saml.acme",
                acme.merging([
                    "spConfig": (acme["spConfig"] ?? [:]).merging(["spCertificates": [["x509Certificate": "x"]]])
                ]),
                in: place,
                to: service
            )
            #expect(created.json == acme.merging(["name": .string(name)]), "what only the service says is not taken")
            let path = "\(Self.collection)/saml.acme"
            #expect(try await send("GET", path, in: place, to: service).json == created.json)
            let beta = try await send(
                "POST",
                "\(Self.collection)?inboundSamlConfigId=saml.beta",
                acme.merging(["enabled": false]),
                in: place,
                to: service
            )
            #expect(beta.status == 200 && beta["enabled"] == nil, "\(beta)")
            let first = try await send("GET", "\(Self.collection)?pageSize=1", in: place, to: service)
            #expect(first[Self.collection] == [created.json])
            let next = first["nextPageToken"]?.string ?? ""
            let second = try await send(
                "GET",
                "\(Self.collection)?pageSize=1&pageToken=\(next)",
                in: place,
                to: service
            )
            #expect(second.json == [Self.collection: [beta.json]])
            // The project's are none of its tenant's, and the reverse; no other collection has them.
            #expect(try await send("GET", Self.collection, in: other, to: service).json == ["inboundSamlConfigs": []])
            for elsewhere in [
                other + path, place + "oauthIdpConfigs/saml.acme", place + "\(Self.collection)/oidc.acme",
            ] {
                let reply = try await send("GET", elsewhere, to: service)
                #expect(reply.status == 404 && reply.error == "CONFIGURATION_NOT_FOUND", "\(elsewhere)")
            }
            #expect(try await send("GET", "oauthIdpConfigs", in: place, to: service).json == ["oauthIdpConfigs": []])

            // A change of one member leaves the others.
            let changes: JSON = [
                "displayName": "Ignored",
                "idpConfig": ["ssoUrl": "https://sso.acme.example/", "idpEntityId": "ignored"],
                "spConfig": ["spEntityId": "other-app"],
            ]
            let mask = "idpConfig.sso_url,spConfig.spEntityId,enabled"
            let changed = try await send("PATCH", "\(path)?updateMask=\(mask)", changes, in: place, to: service)
            let provider = (acme["idpConfig"] ?? [:]).merging(["ssoUrl": "https://sso.acme.example/"])
            let own = (acme["spConfig"] ?? [:]).merging(["spEntityId": "other-app"])
            var expected = created.json.merging(["idpConfig": provider, "spConfig": own]).object ?? [:]
            expected["enabled"] = nil
            #expect(changed.json == .object(expected), "\(changed)")
            #expect(try await send("GET", path, in: place, to: service).json == changed.json)
            let whole = try await send("PATCH", path, acme, in: place, to: service)
            #expect(whole.json == created.json, "without a mask what the body has is changed")

            #expect(try await send("DELETE", path, in: place, to: service).json == [:])
            for (method, body) in [("GET", nil), ("DELETE", nil), ("PATCH", acme)] as [(String, JSON?)] {
                let gone = try await send(method, path, body, in: place, to: service)
                #expect(gone.status == 404 && gone.error == "CONFIGURATION_NOT_FOUND", "\(method) \(gone)")
            }
        }
    }

    /// RSA of 1,024 bits, as the suites of Firebase's Admin SDKs use it; made for this test, nobody has its key.
    private static let shortCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIB+jCCAWOgAwIBAgIUCZ/Rhv8VZ02ndZ4tlQj0QJVdIiYwDQYJKoZIhvcNAQEL
        BQAwDzENMAsGA1UEAwwEYWNtZTAeFw0yNjExMjgyMDU1MTRaFw0zNjExMjUyMDU1
        MTRaMA8xDTALBgNVBAMMBGFjbWUwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGB
        AK63Q7fVPAgXGkiRHemMfEGrdjo4NkhdQ4N+fl/Zz6Ne/81EIFU1EBKARzeplGQK
        Vs0ZK0pnjVzNlHAiOAExrvq0ps9cEleC5b1YvJO1SsJt/8RpgMeOIGwzySjPCfTh
        U/AhRxU8pXLuiTFnrZYkCKi5ryZNrZVQgvQrqDgh52iVAgMBAAGjUzBRMB0GA1Ud
        DgQWBBQ2uePYo9Pd3WMISrVRozZk7u4ynzAfBgNVHSMEGDAWgBQ2uePYo9Pd3WMI
        SrVRozZk7u4ynzAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4GBAHUD
        graLDevMbiNnhBEYDgvUgakI6oN2IR9UFMH9y5CbeWPXcfRMZXMLSxcgUE0fNz67
        1AV7Igt3Sbyn1GGzerQ42CKPW0DoyjX6eNgvxjkggYNV2eMWDhlmcdQw4d0luCvN
        PV+UVVPWqeP7p+JmwEtYsGgnGP1zz0Ck/x5D8u8u
        -----END CERTIFICATE-----
        """

    @Test("certificates come as providers hand them out: any key, with or without PEM's lines, wrapped or not")
    func certificateForms() async throws {
        try await TestService.run { service in
            let pem = try [Self.certificate.get(), Self.shortCertificate]
            let bare = pem.map { $0.split(separator: "\n").filter { !$0.hasPrefix("-----") } }
            let forms =
                pem + pem.map { $0.replacing("\n", with: "\r\n") + "\r\n" } + bare.map { $0.joined() }
                + bare.map { $0.joined(separator: "\n") }
                + bare.map { "-----BEGIN CERTIFICATE-----\n\($0.joined())\n-----END CERTIFICATE-----\n" }
            for (index, form) in forms.enumerated() {
                let list: JSON = [["x509Certificate": .string(form)]]
                let body = try Self.acme("idpConfig", "idpCertificates", list)
                let query = "?inboundSamlConfigId=saml.acme\(index)"
                let made = try await send("POST", Self.collection + query, body, to: service)
                #expect(made.status == 200 && made["idpConfig"]?["idpCertificates"] == list, "\(form): \(made)")
            }
        }
    }

    @Test("configurations that could not work are refused with Firebase's codes, and change nothing")
    func refusals() async throws {
        try await TestService.run { service in
            let broken = try Self.certificate.get().replacing("MII", with: "AAA")
            let loud = "INVALID_CONFIG : "
            let sp = "MISSING_SAML_RELYING_PARTY_CONFIG : "
            let id = "?inboundSamlConfigId=saml.acme"
            let acme = try Self.acme()
            func certificates(_ texts: String...) throws -> JSON {
                let certificates = texts.map { JSON.object(["x509Certificate": .string($0)]) }
                return try Self.acme("idpConfig", "idpCertificates", .array(certificates))
            }
            let cases: [(String, JSON, String)] = try [
                ("", acme, "MISSING_CONFIG_ID"), ("?inboundSamlConfigId=", acme, "MISSING_CONFIG_ID"),
                ("?inboundSamlConfigId=saml.", acme, "INVALID_CONFIG_ID"),
                ("?inboundSamlConfigId=oidc.acme", acme, "INVALID_CONFIG_ID"),
                ("?inboundSamlConfigId=saml.a%20b", acme, "INVALID_CONFIG_ID"),
                (id, [:], sp), (id, acme.merging(["spConfig": [:]]), sp), (id, acme.merging(["idpConfig": [:]]), loud),
                (id, Self.acme("spConfig", "spEntityId", ""), loud),
                (id, Self.acme("spConfig", "callbackUri", ""), loud),
                (id, Self.acme("spConfig", "callbackUri", "/handler"), loud),
                (id, Self.acme("idpConfig", "idpEntityId", nil), loud),
                (id, Self.acme("idpConfig", "ssoUrl", "javascript:alert(1)"), loud),
                (id, Self.acme("idpConfig", "ssoUrl", "acme"), loud),
                (id, Self.acme("idpConfig", "ssoUrl", "ftp://acme.example"), loud),
                (id, Self.acme("idpConfig", "ssoUrl", "https://u:p@acme.example/"), loud),
                (id, Self.acme("idpConfig", "idpCertificates", []), loud),
                (id, certificates("CERTIFICATE"), "\(loud)idpConfig.idpCertificates[0].x509Certificate must be"),
                (id, certificates(""), "\(loud)idpConfig.idpCertificates[0].x509Certificate must be"),
                (
                    id, certificates(try Self.certificate.get(), broken),
                    "\(loud)idpConfig.idpCertificates[1].x509Certificate must be"
                ),
                (id, Self.acme("idpConfig", "idpCertificates", [[:]]), loud),
                (
                    id, Self.acme("idpConfig", "idpCertificates", "text"),
                    "Invalid value at 'idp_config.idp_certificates[0]'"
                ),
            ]
            for (query, body, message) in cases {
                let reply = try await send("POST", Self.collection + query, body, to: service)
                #expect(
                    reply.status == 400 && reply.error?.hasPrefix(message) == true,
                    "\(query) \(body.text): \(reply)"
                )
                #expect(reply["error"]?["status"] == "INVALID_ARGUMENT")
            }
            #expect(try await send("GET", Self.collection, to: service).json == ["inboundSamlConfigs": []])

            let made = try await send("POST", Self.collection + id, acme, to: service)
            made.expectOK()
            let again = try await send("POST", Self.collection + id, acme, to: service)
            let exists = "CONFIGURATION_EXISTS : The InboundSamlConfig already exists with config_id: saml.acme"
            #expect(again.status == 409 && again.error == exists)
            for (mask, body) in [
                ("idpConfig.ssoUrl", ["idpConfig": ["ssoUrl": "x"]]), ("idpConfig", [:]), ("spConfig", [:]),
                ("idpConfig.idpCertificates", ["idpConfig": ["idpCertificates": [["x509Certificate": "x"]]]]),
                ("clientId", ["clientId": "x"]), ("idpConfig.nonsense", [:]), ("definition.scopes", [:]),
            ] as [(String, JSON)] {
                let reply = try await send(
                    "PATCH",
                    "\(Self.collection)/saml.acme?updateMask=\(mask)",
                    body,
                    to: service
                )
                #expect(reply.status == 400, "\(mask): \(reply)")
            }
            #expect(try await send("GET", "\(Self.collection)/saml.acme", to: service).json == made.json)
        }
    }

    /// A signed assertion beside one that nobody signed: who trusts the signature must not read the other.
    private static let wrapped = Data(
        """
        <samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" \
        xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="r" Version="2.0">\
        <saml:Assertion ID="evil"><saml:Subject><saml:NameID>R</saml:NameID></saml:Subject></saml:Assertion>\
        <saml:Assertion ID="good"><Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>\
        <Reference URI="#good"/></SignedInfo></Signature></saml:Assertion></samlp:Response>
        """.utf8
    ).base64EncodedString().replacing("+", with: "%2B")

    @Test("T-C16: nobody signs in by one, and none is anybody's way in: all is as it was without it")
    func refusesSignIn() async throws {
        try await TestService.run { service in
            let user = try await service.signUp("ada@example.com")
            let body: JSON = [
                "localId": JSON(user.localID), "linkProviderUserInfo": ["providerId": "saml.acme", "rawId": "R"],
            ]
            try await service.admin("accounts:update", body).expectOK()
            func answers() async throws -> [String] {
                let start: JSON = ["providerId": "saml.acme", "continueUri": "http://localhost/callback"]
                let replies = try await [
                    service.call("accounts:createAuthUri", start),
                    service.signInWithIdP(postBody: "SAMLResponse=\(Self.wrapped)&providerId=saml.acme"),
                    service.signInWithIdP(postBody: "id_token=x&providerId=saml.acme"),
                    // The password is the last way in.
                    service.call("accounts:update", ["idToken": JSON(user.idToken), "deleteProvider": ["password"]]),
                ]
                return replies.map { "\($0.status) \($0.error ?? "")" }
            }
            let before = try await answers()
            let made = try await send(
                "POST",
                "\(Self.collection)?inboundSamlConfigId=saml.acme",
                Self.acme(),
                to: service
            )
            #expect(made.status == 200 && made["enabled"] == true, "\(made)")
            #expect(try await answers() == before)
            #expect(before.allSatisfy { $0.hasPrefix("400 ") }, "\(before)")
            let stats = try await service.admin("providers:stats")
            let saml = stats["providers"]?.array?.first { $0["providerId"] == "saml.acme" }
            #expect(saml?["accounts"] != nil && saml?["enabled"] != true, "\(stats)")
        }
    }
}
