import Crypto
import Domain
import Federation
import Foundation
import Outbound
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit

/// How the service shows the token endpoint who it is.
@Suite struct ClientAuthenticationTests {
    @Test(
        arguments: [
            (nil, nil, "basic"), (nil, #"["client_secret_post"]"#, "post"),
            (nil, #"["client_secret_post","client_secret_basic"]"#, "basic"), ("post", nil, "post"),
            ("none", nil, "none"),
        ] as [(String?, String?, String)]
    )
    func authenticatesAsTheProviderWishes(_ set: String?, _ advertised: String?, _ expected: String) async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["token_endpoint_auth_methods_supported": advertised])
            let configuration = world.oidc(definition: set.map { #"{"clientAuth":"\#($0)"}"# })
            let request = try await world.start(configuration)
            try world.answerToken(for: request)
            _ = try await world.finish(request, configuration)
            let exchange = try #require(world.server.requests(to: "/token").first)
            #expect((exchange.headers["authorization"] != nil) == (expected == "basic"))
            #expect((exchange.field("client_secret") == "s3cret") == (expected == "post"))
            #expect((exchange.field("client_id") == "client-1") == (expected != "basic"))
        }
    }

    @Test(
        "T-C15: an assertion is made for the issuer or a stated audience, whatever discovery says, and for minutes",
        arguments: [nil, "https://login.example/token"]
    )
    func signsAnAssertion(_ stated: String?) async throws {
        let key = P256.Signing.PrivateKey()
        try await FederationWorld.run { world in
            world.publishDiscovery(["token_endpoint": "\"http://localhost:\(world.server.port)/token\""])
            let audience = stated.map { #","audience":"\#($0)""# } ?? ""
            let definition =
                #"{"clientAuth":"private_key_jwt","endpointHosts":["localhost"],"variables":{"keyId":"k1"\#(audience)}}"#
            let configuration = world.oidc(definition: definition, secret: key.pemRepresentation)
            let request = try await world.start(configuration)
            try world.answerToken(for: request)
            _ = try await world.finish(request, configuration)
            let exchange = try #require(world.server.requests(to: "/token").first)
            #expect(exchange.field("client_id") == "client-1")
            #expect(exchange.field("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            let parts = try #require(exchange.field("client_assertion")).split(separator: ".").map { String($0) }
            #expect(parts.count == 3)
            let bytes = try parts.map { try #require(Base64URL.decode($0)) }
            #expect(try JSONValue(parsing: bytes[0])["kid"] == .string("k1"))
            let claims = try JSONValue(parsing: bytes[1])
            #expect(claims["aud"]?.string == stated ?? world.issuer)
            #expect(claims["iss"] == .string("client-1") && claims["sub"] == .string("client-1"))
            #expect(claims["exp"]?.wholeNumber == world.clock.seconds + 300)
            #expect(claims["jti"]?.string?.isEmpty == false)
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes[2])
            #expect(key.publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
        }
    }

    @Test(
        "T-C15: no assertion goes to an endpoint that discovery places elsewhere",
        arguments: ["http://localhost", "https://evil127.0.0.1"]
    )
    func keepsTheAssertion(_ other: String) async throws {
        try await FederationWorld.run { world in
            world.publishDiscovery(["token_endpoint": "\"\(other):\(world.server.port)/token\""])
            let host = try #require(other.split(separator: "/").last)
            let configuration = world.oidc(
                definition: #"{"clientAuth":"private_key_jwt"}"#,
                secret: P256.Signing.PrivateKey().pemRepresentation
            )
            let refused = FederationError.misconfigured(
                InvalidDefinition(
                    member: "definition.endpointHosts",
                    problem: "must list \(host), the host of token in discovery"
                )
            )
            await #expect(throws: refused) { try await world.start(configuration) }
            #expect(world.server.requests(to: "/token").isEmpty)
        }
    }

    @Test func aPublicClientHasNoSecretToSend() async throws {
        try await FederationWorld.run { world in
            let configuration = world.oidc(secret: nil)
            let request = try await world.start(configuration)
            try world.answerToken(for: request)
            _ = try await world.finish(request, configuration)
            let exchange = try #require(world.server.requests(to: "/token").first)
            #expect(exchange.headers["authorization"] == nil)
            #expect(exchange.field("client_secret") == nil)
            #expect(exchange.field("client_id") == "client-1")
        }
    }

    @Test func usesTheSecretOfTheDayOfTheExchange() async throws {
        try await FederationWorld.run { world in
            var configuration = world.oidc()
            let request = try await world.start(configuration)
            try world.answerToken(for: request)
            configuration.clientSecret = Secret("n3w:secret")
            _ = try await world.finish(request, configuration)
            let exchange = try #require(world.server.requests(to: "/token").first)
            let expected = "Basic " + Data("client-1:n3w%3Asecret".utf8).base64EncodedString()
            #expect(exchange.headers["authorization"] == expected)
        }
    }
}
