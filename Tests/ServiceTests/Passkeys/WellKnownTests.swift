import Domain
import Projects
import Storage
import Testing
import TestKit

@Suite("Files of passkeys below /.well-known/", .database)
struct WellKnownTests {
    private static let hash = "pNiP5iKyQ8JwgGOaKA1zGPUPJIS0H1T8sYJQfFgAAAA"
    private static let names = ["webauthn", "passkey-endpoints", "assetlinks.json", "apple-app-site-association"]

    private func file(_ name: String, at host: String, _ service: TestService) async throws -> Reply {
        try await service.send("GET", "/.well-known/\(name)", headers: [("Host", host)])
    }

    @Test("each file has what the projects and tenants of the host allow")
    func contents() async throws {
        try await PasskeyScene.run {
            $0.publicURL = PublicURL("https://login.example.com")
            $0.appURLs = [PublicURL("https://files.example.com")]
            $0.passkeys.relyingPartyID = "files.example.com"
            $0.passkeys.origins = [
                "https://files.example.com", "https://shop.example", "android:apk-key-hash:\(Self.hash)",
            ]
            $0.passkeys.managementURL = "https://files.example.com/passkeys"
            $0.passkeys.appleTeamID = "A1B2C3D4E5"
            for (platform, name) in [(AppRegistration.Platform.ios, "com.example.Tea"), (.android, "com.example.tea")] {
                let app = AppRegistration(id: name, platform: platform, identifier: name, scheme: nil)
                if let app { $0.apps.append(app) }
            }
        } _: { service in
            let tenant: JSON = [
                "passkeyConfig": ["rpId": "files.example.com", "expectedOrigins": ["https://tenant.example"]]
            ]
            try await service.admin("tenants", tenant, version: "v2").expectOK()
            let origins = try await file("webauthn", at: "files.example.com:443", service)
            #expect(
                origins["origins"] == ["https://files.example.com", "https://shop.example", "https://tenant.example"],
                "\(origins)"
            )
            #expect(origins.response.header("cache-control") == "public, max-age=300")
            let endpoints = try await file("passkey-endpoints", at: "FILES.example.com", service)
            #expect(
                endpoints["manage"] == "https://files.example.com/passkeys"
                    && endpoints["enroll"] == endpoints["manage"]
            )
            let links = try await file("assetlinks.json", at: "files.example.com", service)
            let target = links.json[0]?["target"]
            #expect(target?["package_name"] == "com.example.tea", "\(links)")
            // `openssl base64 -d | xxd` of the hash.
            #expect(
                target?["sha256_cert_fingerprints"]?[0]?.string?.hasPrefix("A4:D8:8F:E6:22:B2:43:C2:70:80:63") == true
            )
            let apps = try await file("apple-app-site-association", at: "files.example.com", service)
            #expect(apps["webcredentials"] == ["apps": ["A1B2C3D4E5.com.example.Tea"]], "\(apps)")
            #expect(apps.response.header("content-type")?.hasPrefix("application/json") == true)
        }
    }

    @Test("T-D31: the files of a host are its owner's, whoever else has it as RP ID, in a tenant too")
    func otherProject() async throws {
        @Sendable func taking(_ host: String) -> @Sendable (inout ProjectSettings) -> Void {
            {
                $0.passkeys.relyingPartyID = host
                $0.passkeys.origins = ["https://thief.example", "android:apk-key-hash:\(Self.hash)"]
                $0.passkeys.managementURL = "https://thief.example/passkeys"
                $0.passkeys.appleTeamID = "A1B2C3D4E5"
                for platform in [AppRegistration.Platform.ios, .android] {
                    let app = AppRegistration(id: "1", platform: platform, identifier: "thief", scheme: nil)
                    if let app { $0.apps.append(app) }
                }
            }
        }
        try await PasskeyScene.run {
            $0.publicURL = PublicURL("https://shared.example.com")
            $0.passkeys.relyingPartyID = "shared.example.com"
            $0.passkeys.origins = ["https://shared.example.com"]
        } _: { owner in
            // The owner's, the service's, which no project owns, and nobody's.
            for host in ["shared.example.com", "id.example.com", "nobody.example.com"] {
                try await PasskeyScene.run(taking(host)) { thief in
                    let tenant: JSON = [
                        "passkeyConfig": ["rpId": .string(host), "expectedOrigins": ["https://tenant.example"]]
                    ]
                    try await thief.admin("tenants", tenant, version: "v2").expectOK()
                    for service in [owner, thief] {
                        try await service.stores.configuration.refresh()
                        let isOwned = host == "shared.example.com"
                        for name in Self.names {
                            let reply = try await file(name, at: host, service)
                            #expect(reply.status == (isOwned && name == "webauthn" ? 200 : 404), "\(host): \(reply)")
                            guard reply.status == 200 else { continue }
                            #expect(reply["origins"] == ["https://shared.example.com"], "\(reply)")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "a host that is not the RP ID, or nobody's, has no files",
        arguments: ["own.example.com", "nothing.example.com", "nothing.example.com:8443", "127.0.0.1", "[::1]:80"]
    )
    func otherHosts(_ host: String) async throws {
        try await PasskeyScene.run {
            $0.appURLs = [PublicURL("https://own.example.com")]
            $0.passkeys.relyingPartyID = "nothing.example.com"
            $0.passkeys.origins = ["https://nothing.example.com"]
            $0.passkeys.managementURL = "https://nothing.example.com/passkeys"
        } _: { service in
            for name in Self.names {
                let reply = try await file(name, at: host, service)
                #expect([400, 404].contains(reply.status), "\(reply)")
            }
        }
    }
}
