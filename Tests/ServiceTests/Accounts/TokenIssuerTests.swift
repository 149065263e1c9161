import Projects
import Sessions
import Storage
import TestKit
import Testing

/// `identity.tokenIssuer`: whose name ID tokens carry.
@Suite("The issuer of ID tokens", .database)
struct TokenIssuerTests {
    private static let url = "https://id.example.com"

    private static func own(_ change: (inout TestService.Options) -> Void = { _ in }) -> TestService.Options {
        var options = TestService.Options()
        options.settings.tokenIssuer = .own
        change(&options)
        return options
    }

    private func set(_ issuer: String, in service: TestService) async throws {
        let reply = try await service.admin(
            "config?updateMask=identity.tokenIssuer",
            ["identity": ["tokenIssuer": .string(issuer)]],
            method: "PATCH",
            version: "v2"
        )
        #expect(reply["identity"]?["tokenIssuer"]?.string == issuer, "\(reply)")
    }

    @Test("is Firebase's or the project's own, and tokens from before a change live on")
    func changes() async throws {
        try await TestService.run { service in
            let id = service.project.id
            let (firebases, own) = ("https://securetoken.google.com/\(id)", "\(Self.url)/\(id)")
            let before = try await service.signUp("ada@example.com")
            #expect(before.claims["iss"]?.string == firebases)
            try await set("own", in: service)
            try await service.lookUp(before.idToken).expectOK()
            let after = try await service.signInWithPassword("ada@example.com")
            #expect(after.claims["iss"]?.string == own)
            #expect(after.claims["aud"]?.string == "\(id)")
            #expect(try await service.refresh(before.refreshToken).claims["iss"]?.string == own)
            try await service.lookUp(after.idToken).expectOK()
            // Session cookies keep theirs.
            let made = try await service.admin(":createSessionCookie", ["idToken": JSON(after.idToken)])
            let cookie = try #require(made["sessionCookie"]?.string)
            #expect(Reply.claims(of: cookie)["iss"]?.string == "https://session.firebase.google.com/\(id)")
            try await set("firebase", in: service)
            try await service.lookUp(after.idToken).expectOK()
            #expect(try await service.refresh(after.refreshToken).claims["iss"]?.string == firebases)
        }
    }

    @Test("is in tenants as in their project")
    func inTenants() async throws {
        let options = Self.own { $0.settings.allowsTenants = true }
        try await TestService.run(options) { service in
            let tenant = try await service.makeTenant("Northwind", ["enableAnonymousUser": true])
            let guest = try await service.call("accounts:signUp", ["tenantId": .string(tenant)])
            #expect(guest.claims["iss"]?.string == "\(Self.url)/\(service.project.id)")
            let found = try await service.call(
                "accounts:lookup",
                ["idToken": JSON(guest.idToken), "tenantId": .string(tenant)]
            )
            found.expectOK()
        }
    }

    @Test("T-D1: own or Firebase's, that of another project is refused, and so is any that merely looks like it")
    func refusesOthers() async throws {
        try await TestService.run(Self.own()) { service in
            let user = try await service.signUp("ada@example.com")
            try await TestService.run(Self.own()) { other in
                let stranger = try await other.signUp("ada@example.com")
                try await service.lookUp(stranger.idToken).expectRefused("INVALID_ID_TOKEN")
            }
            let id = service.project.id
            let keys = service.stores.configuration.signingKeys
            let signer = try #require(keys.signer(for: .rs256, at: service.clock.seconds))
            func token(issuer: String) throws -> String {
                try signer.token(of: Array(user.claims.merging(["iss": .string(issuer)]).text.utf8))
            }
            for issuer in ["https://securetoken.google.com/\(id)", "\(Self.url)/\(id)"] {
                try await service.lookUp(token(issuer: issuer)).expectOK()
            }
            for issuer in [
                "\(Self.url)/other-project", "https://securetoken.google.com/other-project", "\(Self.url)/\(id)/",
                "https://evil.example.com/\(id)", "http://id.example.com/\(id)", "\(Self.url)//\(id)", "\(id)",
                Self.url,
                "https://session.firebase.google.com/\(id)",
            ] {
                try await service.lookUp(token(issuer: issuer)).expectRefused("INVALID_ID_TOKEN")
            }
        }
    }

    @Test("needs to know where the service is")
    func needsURL() async throws {
        var options = TestService.Options()
        options.publicURL = nil
        try await TestService.run(options) { service in
            for (path, change, refused) in [
                ("config?updateMask=identity.tokenIssuer", ["tokenIssuer": "own"], "tokenIssuer own"),
                ("config", ["tokenIssuer": "own"], "tokenIssuer own"),
                ("config", ["oauth": ["enabled": true]], "oauth.enabled"),
            ] as [(String, JSON, String)] {
                let reply = try await service.admin(path, ["identity": change], method: "PATCH", version: "v2")
                #expect(reply.error == "INVALID_CONFIG : identity.\(refused) requires http.publicURL.")
            }
            try await service.signUp("ada@example.com").expectOK()
        }
        // Set by a node that knows.
        options.settings.tokenIssuer = .own
        options.settings.oauth.isEnabled = true
        try await TestService.run(options) { service in
            #expect(try await service.signUp("ada@example.com").status == 500)
            for endpoint in ["authorize", "userinfo", "device", "grants"] {
                #expect(try await service.send("GET", "/\(service.project.id)/oauth/\(endpoint)").status == 404)
            }
            #expect(try await service.send("GET", "/\(service.project.id)\(Self.document)").status == 404)
            let changed = try await service.admin(
                "config?updateMask=identity.appName",
                ["identity": ["appName": "Acme"]],
                method: "PATCH",
                version: "v2"
            )
            #expect(changed.status == 200, "other settings change all the same")
        }
    }

    // MARK: The document for libraries of OpenID Connect

    private static let document = "/.well-known/openid-configuration"

    @Test("is described where it says to be, for others to keep")
    func describesItself() async throws {
        try await TestService.run(Self.own { $0.publicURL = "https://id.example.com/" }) { service in
            let issuer = "\(Self.url)/\(service.project.id)"
            let reply = try await service.send("GET", "/\(service.project.id)\(Self.document)")
            #expect(
                reply.json == [
                    "issuer": .string(issuer), "response_types_supported": ["id_token"],
                    "jwks_uri": .string("\(Self.url)/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"),
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256", "ES256"],
                ]
            )
            let caching = "public, max-age=7200, must-revalidate, no-transform"
            #expect(reply.response.header("cache-control") == caching)
            #expect(reply.response.header("access-control-allow-origin") == "*")
            #expect(try await service.signUp("ada@example.com").claims["iss"]?.string == issuer)
        }
    }

    @Test("has no description under another project's path, nor with Firebase's issuer")
    func describesNothingElse() async throws {
        try await TestService.run(Self.own()) { service in
            for path in [
                "/other-project", "/\(service.project.number)", "/v1", "/identitytoolkit.googleapis.com",
                "/\(service.project.id)/\(service.project.id)", "/projects/\(service.project.id)", "",
            ] {
                let reply = try await service.send("GET", path + Self.document)
                #expect(reply.status == 404 && reply["error"]?["status"]?.string == "NOT_FOUND", "\(path) \(reply)")
            }
            try await set("firebase", in: service)
            let reply = try await service.send("GET", "/\(service.project.id)\(Self.document)")
            #expect(reply.status == 404 && reply["error"]?["status"]?.string == "NOT_FOUND")
        }
    }

    @Test("is at the service's own address in dev, whatever a caller calls that")
    func inDevelopment() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            try await set("own", in: service)
            let issuer = "\(service.baseURL)/\(service.project.id)"
            let local = service.baseURL.replacing("127.0.0.1", with: "localhost")
            let response = try await PlainHTTP.send("GET", "\(local)/\(service.project.id)\(Self.document)")
            #expect(Reply(response)["issuer"]?.string == issuer)
            let user = try await service.signUp("ada@example.com")
            #expect(user.claims["iss"]?.string == issuer)
            // Nobody makes a project by asking for one.
            #expect(try await service.send("GET", "/unheard-of\(Self.document)").status == 404)
            let unheardOf = try #require(ProjectID(rawValue: "unheard-of"))
            #expect(service.stores.configuration.snapshot.project(unheardOf) == nil)
        }
    }
}
