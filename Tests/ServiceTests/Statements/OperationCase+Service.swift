import Projects
import Storage
import TestKit

extension OperationCase {
    static let service: [OperationCase] = [
        get("getProject", "/v1/projects?key="), get("getPasswordPolicy", "/v2/passwordPolicy?key="),
        get("getRecaptchaConfig", "/v2/recaptchaConfig?clientType=1&key="),
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
        get("certificates", "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"),
        get("jwks", "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"),
        get("cookieCertificates", "/identitytoolkit/v3/relyingparty/publicKeys"),
        get("cookieKeys", "/v1/sessionCookiePublicKeys"),
        OperationCase("openIDConfiguration", { $0.tokenIssuer = .own }) { world in
            { try await world.service.send("GET", "/\(world.service.project.id)/.well-known/openid-configuration") }
        },
        get("healthz", "/healthz"), get("readyz", "/readyz"),
    ]

    private static func get(_ name: String, _ path: String) -> OperationCase {
        OperationCase(name) { world in
            let path = path.hasSuffix("key=") ? path + world.service.apiKey : path
            return { try await world.service.send("GET", path) }
        }
    }
}
