import Foundation
import Projects
import Secrets
import TestKit
import Testing

/// ID tokens that nobody signed (`identity dev --unsigned-tokens`), and where they are nothing.
@Suite("Unsigned ID tokens", .database)
struct UnsignedTokenTests {
    private func run(_ unsigned: Bool, _ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.unsignedTokens = unsigned
        options.settings = .development
        try await TestService.run(options, body)
    }

    /// The claims of a token under the emulator's header.
    private static func unsigned(
        _ token: String?,
        _ changes: JSON = [:],
        header: String = #"{"alg":"none","typ":"JWT"}"#
    ) -> String {
        var claims = (token.map { Reply.claims(of: padded($0)) } ?? .null).object ?? [:]
        for (name, value) in changes.object ?? [:] { claims[name] = value }
        return Base64URL.encode(header.utf8) + "." + Base64URL.encode(JSON.object(claims).text.utf8) + "."
    }

    /// A reply reads tokens of three parts alone.
    private static func padded(_ token: String) -> String { token.hasSuffix(".") ? token + "x" : token }

    @Test("are the emulator's: alg none, no key, no signature, with all the claims")
    func issued() async throws {
        try await run(true) { service in
            let user = try await service.signUp("ada@example.com")
            let token = try #require(user.idToken)
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            #expect(parts.count == 3 && parts[2].isEmpty)
            #expect(
                Base64URL.decode(parts[0]).map { String(decoding: $0, as: UTF8.self) } == #"{"alg":"none","typ":"JWT"}"#
            )
            let claims = Reply.claims(of: token + "x")
            #expect(claims["iss"]?.string == "https://securetoken.google.com/\(service.project.id)")
            #expect(claims["aud"]?.string == service.project.id.rawValue && claims["sub"]?.string == user.localID)
            #expect(claims["firebase"]?["sign_in_provider"] == "password")
            // Our own operations take it, a refresh brings another, and what was said of it holds.
            #expect(try await service.lookUp(token)["users"]?[0]?["email"] == "ada@example.com")
            let refreshed = try await service.refresh(user.refreshToken)
            #expect(refreshed.idToken?.hasSuffix(".") == true, "\(refreshed)")
            let changed = try await service.call(
                "accounts:update",
                ["idToken": .string(token), "displayName": "Ada", "returnSecureToken": true]
            )
            changed.expectOK()
        }
    }

    @Test("are checked for all but the signature")
    func checked() async throws {
        try await run(true) { service in
            let user = try await service.signUp("ada@example.com")
            for (changes, code) in [
                (["aud": "other-project"], "INVALID_ID_TOKEN"), (["iss": "https://example.com"], "INVALID_ID_TOKEN"),
                (["exp": 1], "INVALID_ID_TOKEN"), (["iat": 99_999_999_999], "INVALID_ID_TOKEN"),
                (["sub": "somebody-else"], "INVALID_ID_TOKEN"), (["firebase": .null], "INVALID_ID_TOKEN"),
            ] as [(JSON, String)] {
                let reply = try await service.lookUp(Self.unsigned(user.idToken, changes))
                #expect(reply.code == code, "\(changes.text): \(reply)")
            }
            for token in [
                "a..", "..", Self.unsigned(user.idToken, header: #"{"alg":"NONE"}"#), (user.idToken ?? "") + "eA",
            ] {
                #expect(try await service.lookUp(token).code == "INVALID_ID_TOKEN", "\(token)")
            }
            try await service.call("accounts:signOut", ["idToken": JSON(user.idToken)]).expectOK()
            #expect(try await service.lookUp(user.idToken).code == "TOKEN_EXPIRED")
        }
    }

    @Test("that are signed are good as well: those of a start without the flag")
    func signedOnes() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        let shared = options
        try await TestService.run(options) { first in
            let user = try await first.signUp("ada@example.com")
            var options = shared
            options.unsignedTokens = true
            options.project = first.project
            options.clock = first.clock
            try await TestService.run(options) { second in
                try await second.lookUp(user.idToken).expectOK()
                let own = try await second.signInWithPassword("ada@example.com")
                try await second.lookUp(own.idToken).expectOK()
                #expect(try await first.lookUp(own.idToken).code == "INVALID_ID_TOKEN")
            }
        }
    }

    @Test("so is the JWT of blocking functions, as the emulator sends it", arguments: [true, false])
    func blockingFunctions(_ unsigned: Bool) async throws {
        try await WebReceiver.run { receiver in
            receiver.answer { _ in (200, "{}") }
            var options = TestService.Options()
            options.development = true
            options.unsignedTokens = unsigned
            options.settings = .development
            options.settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/create"
            try await TestService.run(options) { service in
                let user = try await service.signUp("ada@example.com")
                user.expectOK()
                let request = try #require(receiver.received.first { $0.path == "/create" })
                let jwt = try #require(request.json["data"]?["jwt"]?.string)
                let header = jwt.split(separator: ".").first.flatMap { Base64URL.decode($0) } ?? []
                let isUnsigned = String(decoding: header, as: UTF8.self) == #"{"alg":"none","typ":"JWT"}"#
                #expect(isUnsigned == unsigned && jwt.hasSuffix(".") == unsigned)
                let claims = Reply.claims(of: Self.padded(jwt))
                #expect(claims["iss"]?.string == "https://securetoken.google.com/\(service.project.id)")
                #expect(claims["aud"]?.string == receiver.baseURL + "/create")
                #expect(claims["user_record"]?["email"] == "ada@example.com")
            }
        }
    }

    @Test("are nothing without the flag, in development and in production (T-C5)", arguments: [true, false])
    func refused(_ development: Bool) async throws {
        var options = TestService.Options()
        options.development = development
        try await TestService.run(options) { service in
            let user = try await service.signUp("ada@example.com")
            #expect(user.idToken?.hasSuffix(".") == false, "\(user)")
            #expect(try await service.lookUp(Self.unsigned(user.idToken)).code == "INVALID_ID_TOKEN")
        }
    }

    /// What could make or take them is named where it is declared, and set by the module that `serve` cannot import.
    @Test("cannot be switched on by anything but identity dev")
    func wiring() async throws {
        let names = #/(?:tokenSigner|tokenVerifier)\s*=\s*(?!tokenSigner\b|tokenVerifier\b|options)\S|UnsignedIDTokens/#
        let setting = try ["Accounts", "IdentityCLI", "IdentityService", "Sessions", "Storage"].flatMap { room in
            try Repository.files(below: "Sources/\(room)", suffix: ".swift").filter {
                try Repository.text("Sources/\(room)/\($0)").contains(names)
            }
        }
        #expect(setting == [])
        for command in [["serve", "--unsigned-tokens"], ["check", "--unsigned-tokens"]] {
            let result = try await Program.run(IdentityProgram.path, command)
            #expect(result.status == 64 && result.errors.contains("--unsigned-tokens"), "\(result)")
        }
    }
}
