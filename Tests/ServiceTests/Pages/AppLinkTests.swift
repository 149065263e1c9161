import Delivery
import Domain
import Foundation
import Projects
import Storage
import Testing
import TestKit
import Text

@Suite("Links in emails that open apps", .database)
struct AppLinkTests {
    private static let base = "https://id.example.com"
    private static let wrapped = "/__/auth/links?link="
    private static let hash = String(repeating: "0f", count: 32)

    private static func apps() -> [AppRegistration] {
        [
            AppRegistration(id: "1", platform: .ios, identifier: "com.example.Tea", scheme: nil, teamID: "A1B2C3D4E5"),
            AppRegistration(id: "2", platform: .ios, identifier: "com.example.NoTeam", scheme: nil),
            AppRegistration(
                id: "3",
                platform: .android,
                identifier: "com.example.tea",
                scheme: nil,
                certificates: [hash.uppercased()]
            ),
            AppRegistration(id: "4", platform: .android, identifier: "com.example.unsigned", scheme: nil),
        ]
        .compactMap(\.self)
    }

    private static func run(
        _ change: @Sendable (inout ProjectSettings) -> Void = { _ in },
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await MailScene.run {
            $0.apps = apps()
            $0.authorizedDomains = ["localhost", "links.example.com"]
            change(&$0)
        } _: { service in
            #expect(service.project.settings.apps.count == 4)
            try await body(service)
        }
    }

    private static func ask(_ more: JSON, _ service: TestService) async throws -> Reply {
        let body: JSON = [
            "requestType": "EMAIL_SIGNIN", "email": "ada@example.com", "continueUrl": "http://localhost/in",
            "returnOobLink": true,
        ]
        return try await service.admin("accounts:sendOobCode", body.merging(more))
    }

    // MARK: The link

    @Test(
        "a link opens the project's app that handles the code, at the project's or the requested domain",
        arguments: [
            (["iOSBundleId": "com.example.Tea", "canHandleCodeInApp": true], base + wrapped),
            (
                [
                    "androidPackageName": "com.example.tea", "androidInstallApp": true, "androidMinimumVersion": "12",
                    "canHandleCodeInApp": true,
                ], base + wrapped
            ),
            (
                [
                    "iOSBundleId": "com.example.Tea", "androidPackageName": "com.example.tea",
                    "canHandleCodeInApp": true, "linkDomain": "links.example.com",
                ], "https://links.example.com" + wrapped
            ),
            (["iOSBundleId": "com.example.Tea", "canHandleCodeInApp": false], base + "/__/auth/action?"),
            (["iOSBundleId": "com.example.Tea"], base + "/__/auth/action?"),
            (["canHandleCodeInApp": true], base + "/__/auth/action?"),
            (["iOSBundleId": "", "canHandleCodeInApp": true], base + "/__/auth/action?"),
        ] as [(JSON, String)]
    )
    func beginsWith(_ members: JSON, _ beginning: String) async throws {
        try await Self.run { service in
            let reply = try await Self.ask(members, service)
            let link = try #require(reply["oobLink"]?.string, "\(reply)")
            #expect(link.hasPrefix(beginning), "\(link)")
            guard beginning.hasSuffix(Self.wrapped) else { return }
            let inner = try #require(FormFields(URLParts(link)?.query ?? "")["link"])
            #expect(inner.hasPrefix(beginning.dropLast(Self.wrapped.count) + "/__/auth/action?mode=signIn&oobCode="))
            // Where no app opens it, a browser gets to the same page.
            let path = try #require(link.firstRange(of: "/__/")).lowerBound
            let answer = try await service.send("GET", String(link[path...]))
            #expect(answer.status == 303 && answer.response.header("location") == inner, "\(answer)")
            #expect(answer.response.header("cache-control") == "no-store")
        }
    }

    @Test(
        "an app that is not registered is refused by the member that names it, whoever handles the code",
        arguments: [
            (["iOSBundleId": "com.example.Other"], "iOSBundleId"),
            (["iOSBundleId": "com.example.tea", "canHandleCodeInApp": true], "iOSBundleId"),
            (["androidPackageName": "com.example.Tea", "canHandleCodeInApp": true], "androidPackageName"),
            (
                ["iOSBundleId": "com.example.Tea", "androidPackageName": "x", "canHandleCodeInApp": true],
                "androidPackageName"
            ),
        ] as [(JSON, String)]
    )
    func unregistered(_ members: JSON, _ member: String) async throws {
        try await Self.run { service in
            let reply = try await Self.ask(members, service)
            #expect(reply.status == 400, "\(reply)")
            #expect(reply.error == "UNEXPECTED_PARAMETER : \(member) is not an app of the project.", "\(reply)")
            let mail = try await service.sendCode(
                .emailSignIn,
                members.merging(["email": "ada@example.com", "continueUrl": "http://localhost/in"])
            )
            #expect(mail.error == reply.error, "\(mail)")
            #expect(try await service.stores.outbox.waiting(Mail.kind, in: Scope(project: service.project.id)).isEmpty)
        }
    }

    @Test("the email has the link too")
    func mail() async throws {
        try await Self.run { service in
            let reply = try await service.sendCode(
                .emailSignIn,
                [
                    "email": "ada@example.com", "continueUrl": "http://localhost/in", "canHandleCodeInApp": true,
                    "iOSBundleId": "com.example.Tea",
                ]
            )
            reply.expectOK()
            let payloads = try await service.stores.outbox.waiting(Mail.kind, in: Scope(project: service.project.id))
            let mail = try JSONDecoder().decode(Mail.self, from: Data(try #require(payloads.first)))
            #expect(mail.link.hasPrefix(Self.base + Self.wrapped), "\(mail.link)")
        }
    }

    @Test("in dev, any app is taken, and the link stays the emulator's")
    func development() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings.allowsEmailLink = true
        try await TestService.run(options) { service in
            let reply = try await Self.ask(["iOSBundleId": "com.any.App", "canHandleCodeInApp": true], service)
            #expect(reply["oobLink"]?.string?.contains("/__/auth/links") == false, "\(reply)")
        }
    }

    // MARK: The browser

    @Test("T-E32: a link that leads anywhere but to the project's own page for links is refused")
    func hostile() async throws {
        try await Self.run { service in
            let query = "mode=signIn&oobCode=x&apiKey=\(service.apiKey)"
            func open(_ link: String) async throws -> Reply {
                try await service.send("GET", "/__/auth/links?" + FormFields(pairs: [("link", link)]).text)
            }
            for page in ["https://id.example.com/__/auth/action", "https://links.example.com/__/auth/action"] {
                let good = try await open("\(page)?\(query)#x")
                #expect(good.response.header("location") == "\(page)?\(query)", "\(page): \(good)")
            }
            for start in [
                "https://evil.example/__/auth/action", "https://id.example.com.evil.example/__/auth/action",
                "https://id.example.com@evil.example/__/auth/action",
                "https://evil.example#@id.example.com/__/auth/action",
                "https://evil.example\\@id.example.com/__/auth/action", "https://id.example.com:8443/__/auth/action",
                "http://id.example.com/__/auth/action", "HTTPS://id.example.com/__/auth/action",
                "//id.example.com/__/auth/action", "/__/auth/action", "https://id.example.com/__/auth/handler",
                "https://id.example.com/__/auth/action/", "https://id.example.com/__/auth/action/../links",
                "https://links.example.com:8443/__/auth/action", "https://localhost/__/auth/action",
                "https://xlinks.example.com/__/auth/action",
                "javascript:alert(1)//https://id.example.com/__/auth/action",
                " https://id.example.com/__/auth/action", "https://id.example.com/__/auth/action\r\nX-Y: z",
            ] {
                let reply = try await open("\(start)?\(query)")
                #expect(reply.status == 400 && reply.response.header("location") == nil, "\(start): \(reply)")
                #expect(reply.response.text.contains("<h1>"), "\(start)")
                #expect(!reply.response.text.contains("evil"), "\(start)")
            }
            for link in [
                "", Self.base, "\(Self.base)/__/auth/action", "\(Self.base)/__/auth/action?",
                "\(Self.base)/__/auth/action?mode=x&oobCode=x&apiKey=\(service.apiKey)",
                "\(Self.base)/__/auth/action?\(query)&mode=signIn", "\(Self.base)/__/auth/action?\(query)&x=%zz",
            ] {
                #expect(try await open(link).status == 400, "\(link)")
            }
            #expect(try await open("\(Self.base)/__/auth/action?mode=signIn&oobCode=x").status == 403)
            #expect(try await service.send("GET", "/__/auth/links").status == 400)
        }
    }

    // MARK: Files

    private static func file(_ name: String, at host: String, _ service: TestService) async throws -> Reply {
        try await service.send("GET", "/.well-known/\(name)", headers: [("Host", host)])
    }

    @Test("the host of a project names its apps that have a team or a certificate")
    func files() async throws {
        try await Self.run {
            $0.publicURL = PublicURL("https://tea-links.example.com")
        } _: { service in
            let apple = try await Self.file("apple-app-site-association", at: "tea-links.example.com", service)
            let details: JSON = [
                "details": [["appIDs": ["A1B2C3D4E5.com.example.Tea"], "components": [["/": "/__/auth/links*"]]]]
            ]
            #expect(apple.json == ["applinks": details], "\(apple)")
            let android = try await Self.file("assetlinks.json", at: "TEA-links.example.com:443", service)
            let print = Array(repeating: "0F", count: 32).joined(separator: ":")
            #expect(
                android.json == [
                    [
                        "relation": ["delegate_permission/common.handle_all_urls"],
                        "target": [
                            "namespace": "android_app", "package_name": "com.example.tea",
                            "sha256_cert_fingerprints": [.string(print)],
                        ],
                    ]
                ],
                "\(android)"
            )
        }
    }

    @Test("T-E31: a host of several projects, or of none, names no app of any")
    func sharedHost() async throws {
        try await Self.run { one in
            try await Self.run { other in
                for service in [one, other] {
                    try await service.stores.configuration.refresh()
                    for host in ["id.example.com", "links.example.com", "other.example.com"] {
                        for name in ["apple-app-site-association", "assetlinks.json"] {
                            #expect(try await Self.file(name, at: host, service).status == 404, "\(host) \(name)")
                        }
                    }
                }
            }
        }
    }
}
