import Domain
import Federation
import Foundation
import OAuth
import Projects
import Secrets
import StrictJSON
import Synchronization
import Testing

/// JSON null in what a provider or an application wrote is the same as no member, wherever it is read: so it is no reason to
/// refuse anything, and no value for what must be there.
@Suite("Null of a provider") struct ProviderNullsTests {
    /// What is read during a sign-in, and the members that are looked at there.
    enum Document: String, CaseIterable {
        case discovery, keys, header, idToken, tokenAnswer, userInfo

        var members: [String] {
            switch self {
            case .discovery:
                [
                    "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri",
                    "revocation_endpoint", "token_revocation_endpoint", "scopes_supported",
                    "code_challenge_methods_supported", "token_endpoint_auth_methods_supported",
                    "id_token_signing_alg_values_supported", "authorization_response_iss_parameter_supported",
                ]
            case .keys: ["kty", "n", "e", "kid", "use", "alg", "key_ops", "issuer", "d", "k", "p", "crv", "x5c"]
            case .header: ["alg", "kid", "typ", "crit", "zip", "b64", "jwk", "x5u"]
            case .idToken:
                [
                    "iss", "sub", "aud", "azp", "exp", "iat", "nbf", "nonce", "auth_time", "at_hash", "c_hash",
                    "events",
                    "email", "email_verified", "name", "picture", "tid",
                ]
            case .tokenAnswer:
                [
                    "access_token", "token_type", "expires_in", "refresh_token", "id_token", "scope", "error",
                    "error_description", "errorMessage",
                ]
            case .userInfo: ["sub", "email", "email_verified", "name", "given_name", "picture"]
            }
        }

        /// Without which no sign-in ends well.
        var required: Set<String> {
            switch self {
            case .discovery: ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"]
            case .keys: ["kty", "n", "e", "kid"]
            case .header: ["alg"]
            case .idToken: ["iss", "sub", "aud", "exp", "iat", "nonce"]
            case .tokenAnswer: ["access_token", "id_token"]
            case .userInfo: ["sub"]
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var document: Document
        var member: String
        var testDescription: String { "\(document.rawValue): \(member)" }
    }

    static let cases = Document.allCases.flatMap { document in
        document.members.map { Case(document: document, member: $0) }
    }

    @Test("is no member, in each document of a sign-in", arguments: cases)
    func isAbsent(_ one: Case) async throws {
        let (without, null) = (try await signIn(one, isNull: false), try await signIn(one, isNull: true))
        #expect(null == without)
        #expect(null.hasPrefix("subject-1") != one.document.required.contains(one.member), "\(null)")
    }

    /// - Returns: who signed in, or why nobody did.
    private func signIn(_ one: Case, isNull: Bool) async throws -> String {
        let outcome = Mutex("")
        try await FederationWorld.run { world in
            let text: String
            do {
                text = try await signIn(one, isNull: isNull, world)
            } catch let error as FederationError {
                text = String(reflecting: error).replacing(world.issuer, with: "ISSUER")
            }
            outcome.withLock { $0 = text }
        }
        return outcome.withLock { $0 }
    }

    private func signIn(_ one: Case, isNull: Bool, _ world: FederationWorld) async throws -> String {
        func edited(_ document: Document, _ text: String) throws -> String {
            guard document == one.document else { return text }
            var object = try #require(try JSONValue(parsing: text).object)
            object[one.member] = isNull ? .null : nil
            return object.jsonText
        }
        if one.document == .discovery { world.publishDiscovery([one.member: isNull ? "null" : nil]) }
        world.server.on("/keys", .json(TestKey.jwks([try edited(.keys, TestKey.rsa.jwk())])))
        world.server.on("/userinfo", .json(try edited(.userInfo, #"{"sub":"subject-1","nickname":"A"}"#)))
        let configuration = world.oidc()
        let request = try await world.start(configuration)
        let claims = world.claims(["nonce": request.flow.nonce.map { "\"\($0)\"" }])
        let token = try TestKey.rsa.sign(
            payload: try edited(.idToken, claims),
            header: try edited(.header, #"{"alg":"RS256","typ":"JWT","kid":"rsa-1"}"#)
        )
        let answer = #"{"access_token":"at-1","token_type":"Bearer","expires_in":3600,"id_token":"\#(token)"}"#
        world.server.on("/token", .json(try edited(.tokenAnswer, answer)))
        let credential = try await world.finish(request, configuration)
        let identity = credential.identity
        return """
            \(identity.subject) \(identity.email?.canonical ?? "") \(identity.emailVerifiedClaim) \
            \(identity.profile) \(credential.tokens.expiresIn ?? 0) \(credential.tokens.scopes)
            """
    }

    @Test("gives way to what another document says, and is passed on to apps")
    func givesWay() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(definition: #"{"rawUserInfo":"merged"}"#)
            let request = try await world.start(configuration)
            try world.answerToken(for: request, claims: ["email": "null", "name": "null", "picture": "null"])
            let userInfo = #"{"sub":"subject-1","email":"ada@example.com","name":"Ada","company":null}"#
            world.server.on("/userinfo", .json(userInfo))
            let credential = try await world.finish(request, configuration)
            #expect(credential.identity.email == EmailAddress("ada@example.com"))
            #expect(credential.identity.profile.displayName == "Ada")
            let raw = try JSONValue(parsing: credential.rawUserInfo).object
            #expect(raw?["name"] == "Ada" && raw?["company"] == .null && raw?["picture"] == .null, "\(raw as Any)")
        }
    }

    @Test("is no member of a native token's nonce either: Google's SDKs send none")
    func nonce() async throws {
        try await FederationWorld.run { world in
            for claim in ["null", nil] as [String?] {
                let credential = try await world.verify(try world.idToken(["nonce": claim]), nonce: "raw")
                #expect(credential.oneTimeToken == nil && credential.nonce == nil)
            }
        }
    }

    // MARK: Other programs and applications

    @Test(
        "is no member of a workload's token",
        arguments: ["nbf", "events", "iat", "exp", "aud", "sub", "jti", "iss"]
    )
    func workloads(_ member: String) async throws {
        try await FederationWorld.run { world in
            let workload = Workload(
                credential: AdminCredential(id: "ci", name: "CI", project: nil, scopes: []),
                issuer: world.issuer,
                jwks: TestKey.jwks([TestKey.rsa.jwk().dropLast() + #","key_ops":null,"d":null}"#]),
                audience: "client-1",
                claims: ["sub": "subject-1"]
            )
            func accepts(_ value: String?) async -> Bool {
                do throws(WorkloadTokenError) {
                    guard let text = try? world.idToken([member: value]) else { return false }
                    return try await !world.service.verify(WorkloadToken(Secret(text)), of: [workload]).isEmpty
                } catch {
                    return false
                }
            }
            let (without, null) = (await accepts(nil), await accepts("null"))
            #expect(without == null)
            #expect(null == ["nbf", "events", "jti"].contains(member))
        }
    }

    @Test("is no member of a security event", arguments: ["nonce", "exp", "events", "jti", "aud", "iss", "iat"])
    func securityEvents(_ member: String) async throws {
        try await FederationWorld.run { world in
            let event = #"{"x/risc/event-type/account-purged":{"subject":{"iss":"\#(world.issuer)","sub":"1"}}}"#
            func answer(_ value: String?) async throws -> String {
                var claims: [String: String?] = ["events": event, "jti": "\"j\"", "exp": nil]
                claims[member] = .some(value)
                let body = Array(try world.idToken(claims).utf8)
                let notification = ProviderNotification(headers: [:], body: body)
                do throws(FederationError) {
                    return "\(try await world.service.receive(notification, with: world.google()).events.count)"
                } catch {
                    return String(reflecting: error)
                }
            }
            let (without, null) = (try await answer(nil), try await answer("null"))
            #expect(without == null)
            #expect((null == "1") == ["nonce", "exp"].contains(member), "\(null)")
        }
    }

    @Test(
        "is no member of an application's document, whichever way it comes",
        arguments: [
            "client_id", "client_name", "redirect_uris", "grant_types", "response_types", "post_logout_redirect_uris",
            "token_endpoint_auth_method", "scope", "backchannel_logout_uri", "jwks", "jwks_uri", "client_uri",
            "policy_uri", "tos_uri", "client_secret",
        ]
    )
    func clients(_ member: String) throws {
        let id = "https://agent.example/client.json"
        var object: JSONObject = ["client_id": .string(id), "redirect_uris": ["https://agent.example/cb"]]
        func read(_ body: JSONObject) -> Result<ClientMetadata, OAuthError> {
            do throws(OAuthError) {
                return .success(try ClientDocument.metadata(Array(body.jsonText.utf8), of: id))
            } catch {
                return .failure(error)
            }
        }
        object[member] = nil
        let without = read(object)
        let registered = Result { () throws(OAuthError) in try ClientMetadata(object) }
        object[member] = .null
        #expect(read(object) == without)
        #expect(Result { () throws(OAuthError) in try ClientMetadata(object) } == registered)
        let isRequired = ["client_id", "redirect_uris"].contains(member)
        #expect(((try? without.get()) == nil) == isRequired)
    }

    @Test(
        "is no member of an application's key, in its metadata or in a proof",
        arguments: ["d", "k", "key_ops", "alg"]
    )
    func clientKeys(_ member: String) throws {
        var jwk = try #require(try JSONValue(parsing: TestKey.ec.jwk()).object)
        jwk[member] = .null
        let metadata = try ClientMetadata([
            "redirect_uris": ["https://agent.example/cb"], "token_endpoint_auth_method": "private_key_jwt",
            "jwks": ["keys": [.object(jwk)]],
        ])
        #expect(metadata.authentication == .privateKeyJWT)
        let header = #"{"alg":"ES256","typ":"dpop+jwt","crit":null,"jwk":\#(jwk.jsonText)}"#
        #expect(SelfSignedJWT(try TestKey.ec.sign(payload: "{}", header: header), type: "dpop+jwt") != nil)
    }
}
