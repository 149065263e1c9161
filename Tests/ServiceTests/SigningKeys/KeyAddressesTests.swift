import Foundation
import Projects
import Storage
import TestKit
import Testing

/// Where libraries fetch the keys of ID tokens, and what kinds of keys they get.
@Suite("Addresses of keys", .database)
struct KeyAddressesTests {
    private static let account = "securetoken@system.gserviceaccount.com"

    @Test(
        "every address at which Google serves them has the same document, for two hours, in both ways of saying so",
        arguments: [
            "robot/v1/metadata/x509/\(account)", "service_accounts/v1/metadata/x509/\(account)", "oauth2/v1/certs",
            "service_accounts/v1/jwk/\(account)", "robot/v1/metadata/jwk/\(account)",
            "service_accounts/v1/metadata/jwk/\(account)", "oauth2/v3/certs",
        ]
    )
    func addresses(_ path: String) async throws {
        try await TestService.run { service in
            let isSet = path.contains("jwk") || path.contains("v3")
            let first = isSet ? "/service_accounts/v1/jwk/" : "/robot/v1/metadata/x509/"
            let expected = try await service.send("GET", first + Self.account).json
            for prefix in ["/", "/www.googleapis.com/"] {
                let reply = try await service.send("GET", prefix + path)
                #expect(reply.json == expected && reply.status == 200, "\(reply)")
                #expect(reply.response.header("cache-control")?.contains("max-age=7200") == true)
                let expires = try #require(reply.response.header("expires"))
                let format = Date.VerbatimFormatStyle(
                    format:
                        "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
                    locale: Locale(identifier: "en_US_POSIX"),
                    timeZone: .gmt,
                    calendar: Calendar(identifier: .gregorian)
                )
                #expect(expires == service.clock.now().addingTimeInterval(7200).formatted(format))
            }
        }
    }

    private static func kinds(_ url: String) async throws -> [String] {
        let reply = Reply(try await PlainHTTP.send("GET", "\(url)/oauth2/v3/certs"))
        return Set((reply["keys"]?.array ?? []).compactMap { $0["kty"]?.string }).sorted()
    }

    /// Gives the project a URL of its own: other tests' projects are in the database too.
    private static func ownURL(_ service: TestService) async throws -> String {
        let own = service.baseURL.replacing("127.0.0.1", with: "localhost")
        let body: JSON = ["identity": ["publicURL": .string(own)]]
        let path = "config?updateMask=identity.publicURL"
        try await service.admin(path, body, method: "PATCH", version: "v2").expectOK()
        return own
    }

    private static func sign(with algorithm: String, _ service: TestService) async throws {
        let path = "config?updateMask=identity.signingAlgorithm"
        let body: JSON = ["identity": ["signingAlgorithm": .string(algorithm)]]
        try await service.admin(path, body, method: "PATCH", version: "v2").expectOK()
    }

    @Test("the set has the kind of key that signs, and the other while one of its tokens may be valid")
    func kinds() async throws {
        var options = TestService.Options()
        options.ownPages = true
        try await TestService.run(options) { service in
            let own = try await Self.ownURL(service)
            #expect(try await Self.kinds(own) == ["RSA"])
            let before = try await service.call("accounts:signUp")
            try await Self.sign(with: "ES256", service)
            #expect(try await Self.kinds(own) == ["EC", "RSA"])
            let after = try await service.call("accounts:signUp")
            try await service.lookUp(before.idToken).expectOK()
            try await service.lookUp(after.idToken).expectOK()
            service.clock.advance(by: 7199)
            #expect(try await Self.kinds(own) == ["EC", "RSA"])
            service.clock.advance(by: 1)
            #expect(try await Self.kinds(own) == ["EC"])
            // What is changed to what it was before gives no other time.
            try await Self.sign(with: "ES256", service)
            #expect(try await Self.kinds(own) == ["EC"])
            try await Self.sign(with: "RS256", service)
            service.clock.advance(by: 7200)
            #expect(try await Self.kinds(own) == ["RSA"])
        }
    }

    @Test("a project's own host has the project's kind, the service's host those of all projects")
    func kindsOfHosts() async throws {
        var options = TestService.Options()
        options.ownPages = true
        options.settings.signWithES256 = true
        try await TestService.run(options) { service in
            let own = try await Self.ownURL(service)
            _ = try await service.stores.configuration.createProject(
                try #require(ProjectID(rawValue: "other-\(service.project.id.rawValue.suffix(12))")),
                settings: ProjectSettings()
            )
            #expect(try await Self.kinds(own) == ["EC"])
            #expect(try await Self.kinds(service.baseURL) == ["EC", "RSA"])
        }
    }
}
