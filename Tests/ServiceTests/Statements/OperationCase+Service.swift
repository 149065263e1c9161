import TestKit

extension OperationCase {
    static let service: [OperationCase] = [
        get("getProject", "/v1/projects?key="), get("getPasswordPolicy", "/v2/passwordPolicy?key="),
        get("getRecaptchaConfig", "/v2/recaptchaConfig?clientType=1&key="),
        get("certificates", "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"),
        get("jwks", "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"),
        get("healthz", "/healthz"), get("readyz", "/readyz"),
    ]

    private static func get(_ name: String, _ path: String) -> OperationCase {
        OperationCase(name) { world in
            let path = path.hasSuffix("key=") ? path + world.service.apiKey : path
            return { try await world.service.send("GET", path) }
        }
    }
}
