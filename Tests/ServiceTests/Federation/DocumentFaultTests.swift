import Development
import Domain
import Federation
import Foundation
import InMemoryLogging
import Logging
import Outbound
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Documents of providers that are broken", .database, .testProvider)
struct DocumentFaultTests {
    // MARK: Discovery and keys

    static let discovery: [FaultCase] = [
        FaultCase("reset", .reset, Messages.providerDown), FaultCase("404", .status(404), Messages.providerDown),
        FaultCase("500", .status(500), Messages.providerDown),
        FaultCase("redirect", .redirect(to: "/elsewhere"), Messages.providerDown),
        FaultCase("HTML", .body(Array("<html>".utf8)), Messages.providerDown),
        FaultCase("a list", .body(Array("[]".utf8)), Messages.providerDown),
        FaultCase("a member twice", .body(Array(#"{"issuer":"a","issuer":"b"}"#.utf8)), Messages.providerDown),
        FaultCase("huge", .body([UInt8](repeating: 0x20, count: 1 << 20)), Messages.providerDown),
        FaultCase(
            "another issuer",
            .members(set: ["issuer": "https://evil.example"]),
            "INVALID_CONFIG : issuer does not match the provider's discovery"
        ),
        FaultCase(
            "no issuer",
            .members(remove: ["issuer"]),
            "INVALID_CONFIG : issuer does not match the provider's discovery"
        ),
        FaultCase(
            "an endpoint elsewhere",
            .members(set: ["token_endpoint": "https://evil.example/token"]),
            "INVALID_CONFIG : definition.endpointHosts must list evil.example, the host of token in discovery"
        ),
        FaultCase(
            "keys elsewhere",
            .members(set: ["jwks_uri": "https://evil.example/keys"]),
            "INVALID_CONFIG : definition.endpointHosts must list evil.example, the host of keys in discovery"
        ),
        FaultCase(
            "http elsewhere",
            .members(set: ["authorization_endpoint": "http://evil.example/"]),
            "INVALID_CONFIG : definition.endpoints.authorization must be set: discovery contains no https URL"
        ),
        FaultCase(
            "a script",
            .members(set: ["authorization_endpoint": "javascript:alert(1)"]),
            "INVALID_CONFIG : definition.endpoints.authorization must be set: discovery contains no https URL"
        ),
        FaultCase(
            "no token endpoint",
            .members(remove: ["token_endpoint"]),
            "INVALID_CONFIG : definition.endpoints.token is missing in discovery"
        ),
        FaultCase(
            "no authorization endpoint",
            .members(remove: ["authorization_endpoint"]),
            "INVALID_CONFIG : definition.endpoints.authorization is missing in discovery"
        ),
    ]

    @Test("4.5: without good discovery no flow begins", arguments: discovery)
    func discoveryFaults(_ test: FaultCase) async throws {
        try await ProviderScene.run(.oidc) { scene in
            scene.tenant.addFault(test.fault, at: .discovery, call: nil)
            let reply = try await scene.refuses(test.message) {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"]
                )
            }
            #expect(reply["authUri"] == nil)
            if test.name == "500" {
                #expect(scene.service.logs.entries.contains { $0.metadata["server.address"] == "127.0.0.1" })
            }
            if let reason = test.message?.split(separator: " : ").last, reply.code == "INVALID_CONFIG" {
                scene.logsForAdmin("provider.misconfigured: \(reason)")
            }
            let token = try scene.tenant.mintIDToken(for: scene.ada)
            if test.name != "no token endpoint", test.name != "no authorization endpoint" {
                try await scene.refuses(test.message) { try await scene.signIn(idToken: token) }
            }
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("4.5: discovery and keys that were read go on serving while the provider's documents are away")
    func staleDocuments() async throws {
        try await ProviderScene.run(.oidc) { scene in
            try await scene.signIn().expectOK()
            scene.tenant.addFault(.status(503), at: .discovery, call: nil)
            scene.tenant.addFault(.status(503), at: .keys, call: nil)
            scene.service.clock.advance(by: 3_601)
            let now = scene.service.clock.seconds
            let token = try scene.tenant.mintIDToken(
                for: scene.ada,
                changes: IDTokenChanges(set: ["iat": .integer(now), "exp": .integer(now + 600)])
            )
            try await scene.signIn(idToken: token).expectOK()
        }
    }

    @Test("4.5: keys that were never read cannot be done without")
    func noKeys() async throws {
        for fault in [ProviderFault.status(503), .reset, .body(Array("{}".utf8)), .body(Array(#"{"keys":{}}"#.utf8))] {
            let test = FaultCase("\(fault)", fault, Messages.providerDown)
            try await ProviderScene.meets(test, at: .keys, .oidc, calls: nil)
        }
        let empty = ProviderFault.body(Array(#"{"keys":[]}"#.utf8))
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive()
            scene.tenant.addFault(empty, at: .keys)
            try await scene.refuses(Messages.badSignature) { try await scene.finish(arrival) }
        }
    }

    @Test("4.5: keys of no use are passed over")
    func oddKeys() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let kid = try scene.tenant.signingKey().kid
            for jwk in [
                #"{"kty":"XYZ","kid":"x"}"#, "{}", "1", "null", #"{"kty":"RSA","kid":"y","n":"!!","e":"AQAB"}"#,
                #"{"kty":"oct","kid":"\#(kid)","k":"c2VjcmV0","alg":"HS256"}"#,
                #"{"kty":"RSA","use":"enc","kid":"z","n":"AQAB","e":"AQAB"}"#,
                #"{"kty":"RSA","kid":"p","n":"AQAB","e":"AQAB","d":"AQAB"}"#,
                #"{"kty":"EC","crv":"P-256","kid":"q","x":"AA","y":"AA"}"#,
            ] {
                try scene.tenant.addRawKey(jwk, first: true)
            }
            try await scene.signIn().expectOK()
        }
    }
}
