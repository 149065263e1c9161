import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit
import Text

@Suite("The way to a provider", .database, .testProvider)
struct AuthorizationRequestTests {
    typealias Kind = ProviderScene.Kind

    @Test("R-09: state and nonce come as JSON, random, and are stored for ten minutes")
    func stateAndNonce() async throws {
        try await ProviderScene.run(.oidc) { scene in
            var seen: Set<String> = []
            for _ in 0..<3 {
                let flow = try await scene.service.startFlow(through: scene.provider)
                scene.secrets.add(from: flow.reply)
                let state = try #require(flow.reply["state"]?.string)
                let nonce = try #require(flow.reply["nonce"]?.string)
                #expect(seen.insert(state).inserted)
                #expect(seen.insert(nonce).inserted)
                #expect(seen.insert(flow.sessionID).inserted)
                for text in [state, nonce, flow.sessionID] { #expect(Base64URL.decode(text)?.count == 32) }
                let request = FormFields(URLParts(flow.authURI)?.query ?? "")
                #expect(request["state"] == state)
                #expect(request["nonce"] == nonce)
                for secret in [state, nonce, flow.sessionID] {
                    let rows = try await TestDatabase.current.client.query(
                        """
                        SELECT position(\(Array(secret.utf8)) IN session_hash || payload),
                            extract(epoch FROM expires_at - created_at)::bigint
                        FROM flows WHERE state_hash = \(SecureHash.sha256(state))
                        """
                    ) { (try $0.next(Int32.self), try $0.next(Int64.self)) }
                    let row = try #require(rows.first)
                    #expect(row.0 == 0, "stored in clear")
                    #expect(row.1 == 600)
                }
            }
        }
    }

    @Test("R-62: a state is always issued, also for providers that do not ask for one", arguments: Kind.withCodes)
    func alwaysState(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let flow = try await scene.service.startFlow(through: scene.provider)
            scene.secrets.add(from: flow.reply)
            let request = FormFields(URLParts(flow.authURI)?.query ?? "")
            #expect(request["state"]?.utf8.count == 43)
            #expect(request["code_challenge_method"] == (kind.usesPKCE ? "S256" : nil))
            #expect((request["nonce"] != nil) == (kind.isOpenID && kind != .linkedIn))
            #expect(request["response_type"] == (kind == .apple ? "code id_token" : "code"))
            #expect(request.repeatedNames.isEmpty)
        }
    }

    @Test("R-62: a callback without state signs no one in", arguments: Kind.allCases)
    func requiresState(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            for callback in [arrival.with("state", nil), arrival.with("state", "")] {
                try await scene.refuses(
                    Messages.usedFlow
                ) { try await scene.finish(callback) }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
            #expect(try await scene.finish(arrival).status == 200, "the flow itself is unharmed")
        }
    }

    @Test("R-26: custom parameters go to the provider as they are", arguments: Kind.allCases)
    func customParameters(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let parameters: JSON = [
                "prompt": "consent", "language": "fr & co=1", "ui_locales": "fr-CA fr", "allow_signup": "false",
            ]
            let arrival = try await scene.arrive(["customParameter": parameters, "hostedDomain": "example.com"])
            for (name, value) in parameters.object ?? [:] {
                #expect(arrival.request[name] == value.string, "\(name)")
            }
            #expect(arrival.request["hd"] == "example.com")
            #expect(arrival.request.repeatedNames.isEmpty)
            #expect(!arrival.authURI.contains("+"), "a space is %20")
            try await scene.finish(arrival).expectOK()
        }
    }

    private static let reserved = [
        "client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "response_mode", "request", "request_uri", "client_secret", "client_assertion",
        "client_assertion_type", "claims", "oauth_token", "oauth_callback",
    ]

    @Test("R-27, T-B8: names that the service sets itself are refused, in any case of letters", arguments: reserved)
    func reservedParameters(_ name: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let mixed = String(
                name.enumerated().map { $0.offset % 2 == 0 ? Character($0.element.uppercased()) : $0.element }
            )
            for spelling in [name, name.uppercased(), mixed] {
                let reply = try await scene.refuses(
                    "INVALID_ARGUMENT : The custom parameter \"\(spelling)\" is not allowed."
                ) {
                    try await scene.service.call(
                        "accounts:createAuthUri",
                        [
                            "providerId": .string(scene.provider.rawValue), "continueUri": "http://localhost/callback",
                            "customParameter": .object([spelling: "evil", "prompt": "login"]),
                        ]
                    )
                }
                #expect(reply["authUri"] == nil)
            }
            let flows = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM flows WHERE project = \(scene.service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(flows == [0])
        }
    }

    @Test(
        "T-B8: a parameter twice, in two cases of letters or in odd characters, is refused",
        arguments: [
            #"{"prompt":"login","Prompt":"none"}"#, #"{"prompt":"login","prompt":"none"}"#,
            #"{"state ":"x"}"#, #"{"state\t":"x"}"#, #"{"prompt&state":"x"}"#, #"{"a=b":"x"}"#, #"{"":"x"}"#,
            #"{"st\u0430te":"x"}"#, #"{"\u017ftate":"x"}"#, #"{"prompt":"a\r\nb"}"#, #"{"prompt":1}"#,
            #"{"prompt":["a","b"]}"#, #"{"max_age":"soon"}"#, #"{"max_age":"-1"}"#,
        ]
    )
    func oddParameters(_ parameters: String) async throws {
        try await ProviderScene.run(.oidc) { scene in
            let reply = try await scene.refuses(nil) {
                try await scene.service.post(
                    "/v1/accounts:createAuthUri?key=\(scene.service.apiKey)",
                    text: """
                        {"providerId":"oidc.acme","continueUri":"http://localhost/callback","customParameter":\(parameters)}
                        """
                )
            }
            #expect(reply["authUri"] == nil)
        }
    }

    @Test("T-B8: what an endpoint's own query says does not override the service's parameters")
    func endpointQuery() async throws {
        try await ProviderScene.run(.oidc) { scene in
            scene.tenant.addFault(
                .members(set: [
                    "authorization_endpoint": .string(
                        (scene.tenant.url(.authorization) ?? "")
                            + "?tenant=t1&State=evil&redirect_uri=https%3A%2F%2Fevil"
                    )
                ]),
                at: .discovery
            )
            let arrival = try await scene.arrive()
            #expect(arrival.request["tenant"] == "t1")
            #expect(arrival.request["redirect_uri"] == "http://localhost/callback")
            let names = arrival.request.pairs.map { $0.name.lowercased() }
            #expect(Set(names).count == names.count, "\(names)")
            try await scene.finish(arrival).expectOK()
        }
    }

    @Test("scopes of the app are added to the provider's own, once")
    func scopes() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive(["oauthScope": "email offline_access https://api.example.com/read"])
            #expect(
                Set(arrival.request.words("scope"))
                    == ["openid", "email", "profile", "offline_access", "https://api.example.com/read"]
            )
            #expect(arrival.request.words("scope").count == 5)
            try await scene.finish(arrival).expectOK()
        }
    }

    @Test("R-54: a provider may be asked for no scope, or for one")
    func optionalScope() async throws {
        var options = ProviderScene.Options()
        options.definition = ["scopes": ["default": []]]
        try await ProviderScene.run(.github, options) { scene in
            let without = try await scene.arrive()
            #expect(without.request["scope"] == nil)
            let reply = try await scene.finish(without)
            reply.expectOK()
            #expect(reply["email"] == nil, "nothing allows us to read it")
            let with = try await scene.arrive(["oauthScope": "public_repo"])
            #expect(with.request["scope"] == "public_repo")
            #expect(try await scene.finish(with).localID == reply.localID)
        }
    }

    @Test("names what is missing or wrong in the request")
    func requestErrors() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let uri: JSON = "http://localhost/callback"
            let cases: [(JSON, String)] = [
                (["providerId": "oidc.acme"], "MISSING_CONTINUE_URI"),
                (["providerId": "oidc.acme", "continueUri": ""], "MISSING_CONTINUE_URI"),
                (
                    ["providerId": "oidc.other", "continueUri": uri],
                    Messages.noProvider
                ),
                (
                    ["providerId": "OIDC.acme", "continueUri": uri],
                    "INVALID_PROVIDER_ID : Provider Id is not supported."
                ),
                (
                    ["providerId": "password", "continueUri": uri],
                    "INVALID_PROVIDER_ID : Provider Id is not supported."
                ),
                (["continueUri": uri], "MISSING_IDENTIFIER"),
                (["identifier": "ada@example.com"], "MISSING_CONTINUE_URI"),
                (["identifier": "nobody", "continueUri": uri], "INVALID_EMAIL"),
                (["identifier": "ada@example.com", "continueUri": "nowhere"], "INVALID_CONTINUE_URI"),
            ]
            for (body, message) in cases {
                try await scene.refuses(message) { try await scene.service.call("accounts:createAuthUri", body) }
            }
        }
    }
}
