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

@Suite("Redirect URIs", .database, .testProvider)
struct RedirectURITests {
    typealias Kind = ProviderScene.Kind

    @Test("R-56: a redirect URI that is left out is left out of both requests")
    func omittedRedirectURI() async throws {
        var options = ProviderScene.Options()
        options.redirects = .exact(["http://localhost/registered"])
        options.definition = ["redirect": "omit"]
        try await ProviderScene.run(.github, options) { scene in
            let arrival = try await scene.arrive(at: "http://localhost/registered")
            #expect(arrival.request["redirect_uri"] == nil)
            try await scene.finish(arrival).expectOK()
            let token = try #require(scene.tenant.requests(.token).first)
            #expect(token.fields["redirect_uri"] == nil)
        }
    }

    @Test(
        "R-47: the registered redirect URI is sent byte for byte, whatever the browser makes of it",
        arguments: [
            ("http://localhost", "http://localhost/"), ("http://localhost", "http://localhost"),
            ("http://localhost/", "http://localhost/"), ("http://localhost/", "http://localhost"),
            ("http://localhost/", "HTTP://LOCALHOST:80/"),
        ]
    )
    func localhost(registered: String, returned: String) async throws {
        var options = ProviderScene.Options()
        options.redirects = .exact([registered])
        for kind in [Kind.oauth2, .oidc] {
            try await ProviderScene.run(kind, options) { scene in
                var arrival = try await scene.arrive(at: registered)
                arrival.callback = returned + "?" + arrival.fields.text
                let reply = try await scene.finish(arrival)
                reply.expectOK()
                #expect(arrival.request["redirect_uri"] == registered)
                #expect(scene.tenant.requests(.token).first?.fields["redirect_uri"] == registered)
            }
        }
    }

    @Test("R-47: a provider adds a slash to a redirect URI without a path, as Feedly does")
    func addedSlash() async throws {
        var options = ProviderScene.Options()
        options.redirects = .exact(["http://localhost"])
        try await ProviderScene.run(.feedly, options) { scene in
            let arrival = try await scene.arrive(
                at: "http://localhost",
                ["oauthScope": "https://cloud.feedly.com/subscriptions"]
            )
            #expect(arrival.callback.hasPrefix("http://localhost/?code="), "\(arrival.callback)")
            let reply = try await scene.finish(arrival)
            reply.expectOK()
            #expect(scene.tenant.requests(.token).first?.fields["redirect_uri"] == "http://localhost")
        }
    }

    @Test(
        "R-55: an app's own scheme is registered, and compares without regard to case",
        arguments: [Kind.github, .oidc]
    )
    func customScheme(_ kind: Kind) async throws {
        let registered = "yyokii://GithubSearchApp"
        var options = ProviderScene.Options()
        options.redirects = .exact([registered])
        options.definition = ["redirectURIs": [.string(registered)]]
        try await ProviderScene.run(kind, options) { scene in
            for spelling in [registered, "yyokii://githubsearchapp", "YYOKII://GITHUBSEARCHAPP/"] {
                var arrival = try await scene.arrive(at: registered)
                #expect(arrival.request["redirect_uri"] == registered)
                arrival.callback = spelling + "?" + arrival.fields.text
                let reply = try await scene.finish(arrival)
                #expect(reply.status == 200, "\(spelling): \(reply)")
            }
            // Only what is registered: as it stands, in its own letters.
            for other in ["yyokii://githubsearchapp", "yyokii://GithubSearchApp/", "yyokii://Other", "other://x"] {
                try await scene.refuses("INVALID_CONTINUE_URI : Invalid OAuth request for \(kind.rawValue)") {
                    try await scene.service.call(
                        "accounts:createAuthUri",
                        ["providerId": .string(kind.rawValue), "continueUri": .string(other)]
                    )
                }
            }
        }
    }

    @Test("an app's custom scheme that is not registered is refused")
    func unregisteredScheme() async throws {
        try await ProviderScene.run(.oidc) { scene in
            for uri in ["yyokii://GithubSearchApp", "yj-xxxxx:/", "com.example.app:/callback"] {
                try await scene.refuses("INVALID_CONTINUE_URI : Invalid OAuth request for oidc.acme") {
                    try await scene.service.call(
                        "accounts:createAuthUri",
                        ["providerId": "oidc.acme", "continueUri": .string(uri)]
                    )
                }
            }
        }
    }
}
