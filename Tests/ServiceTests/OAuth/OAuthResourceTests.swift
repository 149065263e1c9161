import Projects
import TestKit
import Testing
import Text

/// Resources (RFC 8707), which clients spell as they please (RFC 3986 §6).
@Suite("Resources of access tokens", .database)
struct OAuthResourceTests {
    private static let spellings = [
        "https://mcp.example.com", "https://mcp.example.com/", "HTTPS://MCP.Example.com:443",
        "https://mcp.example.com:/.",
    ]
    private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"

    @Test("are the listed ones in any spelling, and aud is the list's", arguments: spellings)
    func listed(_ listed: String) async throws {
        let client = OAuthScene.confidentialClient([
            "trusted": true, "grant_types": ["authorization_code", "refresh_token", .string(Self.exchange)],
        ])
        try await OAuthScene.run(client) {
            $0.oauth.resources = [listed, "https://other.example/"]
        } _: { scene in
            let user = try await scene.service.signUp(OAuthScene.email)
            _ = try await scene.signIn(on: scene.open([("prompt", "login")]))
            for asked in Self.spellings {
                let answer = try await scene.open([("resource", asked), ("scope", "tea.brew")])
                let code = answer.query["code"]
                for wrong in ["https://mcp.example.com/a", "https://mcp.example.com./", "http://mcp.example.com/"] {
                    let refused = try await scene.redeem(code, [("resource", wrong)])
                    #expect(refused.oauthError == "invalid_target", "\(refused)")
                }
                let reply = try await scene.redeem(code, [("resource", Self.spellings[2])])
                #expect(Reply.claims(of: reply.accessToken ?? "")["aud"]?.string == listed, "\(reply)")
                let later = try await scene.refresh(reply.refreshToken, [("resource", asked)])
                #expect(Reply.claims(of: later.accessToken ?? "")["aud"]?.string == listed, "\(later)")
                let seen = try await scene.post("introspect", [("token", later.accessToken)])
                #expect(seen["aud"] == [.string(listed)], "\(seen)")
                let exchanged = try await scene.post(
                    "token",
                    [
                        ("grant_type", Self.exchange), ("subject_token", user.idToken), ("resource", asked),
                        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
                    ]
                )
                #expect(Reply.claims(of: exchanged.accessToken ?? "")["aud"]?.string == listed, "\(exchanged)")
            }
        }
    }

    @Test("are what was granted where the project lists none, each once, and need no second consent")
    func unlisted() async throws {
        try await OAuthScene.run { scene in
            let reply = try await scene.tokens(
                [("resource", "https://mcp.example.com"), ("scope", "tea.brew")]
            )
            let later = try await scene.refresh(reply.refreshToken, [("resource", "https://MCP.example.com/")])
            #expect(Reply.claims(of: later.accessToken ?? "")["aud"]?.string == "https://mcp.example.com", "\(later)")
            let again = try await scene.open(
                [("resource", "https://mcp.example.com/"), ("scope", "tea.brew"), ("prompt", "none")]
            )
            #expect(again.query["code"] != nil, "\(again.url)")
            for wrong in ["https://a@mcp.example.com", "https://mcp.example.com/#", "/", "https://mcp.example.com\\@b"]
            {
                #expect(try await scene.open([("resource", wrong)]).query["error"] == "invalid_target", "\(wrong)")
            }
        }
    }

    @Test("are listed once, whatever their spelling, and a new spelling holds for earlier grants too")
    func setting() async throws {
        try await OAuthScene.run { scene in
            func list(_ resources: JSON) async throws -> Int {
                try await scene.service.admin(
                    "config?updateMask=identity.oauth.resources",
                    ["identity": ["oauth": ["resources": resources]]],
                    method: "PATCH",
                    version: "v2"
                ).status
            }
            #expect(try await list(["https://mcp.example.com", "https://mcp.example.com/"]) == 400)
            #expect(try await list(["https://mcp.example.com"]) == 200)
            let reply = try await scene.tokens([("resource", "https://mcp.example.com/"), ("scope", "tea.brew")])
            #expect(Reply.claims(of: reply.accessToken ?? "")["aud"]?.string == "https://mcp.example.com", "\(reply)")
            #expect(try await list(["https://mcp.example.com/"]) == 200)
            let later = try await scene.refresh(reply.refreshToken)
            #expect(Reply.claims(of: later.accessToken ?? "")["aud"]?.string == "https://mcp.example.com/", "\(later)")
        }
    }
}
