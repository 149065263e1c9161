import Projects
import Storage
import TestKit

extension OperationCase {
    static let service: [OperationCase] = [
        OperationCase("accessToken") { world in
            let service = world.service
            let account = try await TestServiceAccount.register(in: service.project.id, service.stores.configuration)
            let now = Double(service.clock.seconds)
            let assertion = try account.sign([
                "iss": .string(account.key.email), "aud": "https://oauth2.googleapis.com/token", "iat": .number(now),
                "exp": .number(now + 3600),
            ])
            let body: JSON = [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": .string(assertion),
            ]
            return { try await service.post("/token", text: body.text) }
        },
        OperationCase("accessToken, of a workload") { world in
            let scene = try await WorkloadScene.register(world.service, world.acme)
            let token = try scene.token()
            return { try await scene.exchange(token) }
        },
        OperationCase("openIDConfiguration", { $0.tokenIssuer = .own }) { world in
            { try await world.service.send("GET", "/\(world.service.project.id)/.well-known/openid-configuration") }
        },
        wellKnown("relatedOrigins", "webauthn"), wellKnown("passkeyEndpoints", "passkey-endpoints"),
        wellKnown("assetLinks", "assetlinks.json"), wellKnown("appleAppSiteAssociation", "apple-app-site-association"),
    ]

    private static func wellKnown(_ operation: String, _ file: String) -> OperationCase {
        // The project's own.
        let host = "\(file.prefix { $0 != "." }).example.com"
        return OperationCase(
            operation,
            {
                $0.appURLs = [PublicURL("https://\(host)")]
                $0.passkeys.relyingPartyID = host
                $0.passkeys.origins = [
                    "https://\(host)", "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS0H1T8sYJQfFgAAAA",
                ]
                $0.passkeys.managementURL = "https://\(host)/passkeys"
                $0.passkeys.appleTeamID = "A1B2C3D4E5"
                $0.apps = AppRegistration.Platform.allCases.compactMap {
                    AppRegistration(id: $0.rawValue, platform: $0, identifier: "com.example.tea", scheme: nil)
                }
            }
        ) { world in
            { try await world.service.send("GET", "/.well-known/\(file)", headers: [("Host", host)]) }
        }
    }
}
