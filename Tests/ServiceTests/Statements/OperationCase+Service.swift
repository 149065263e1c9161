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
        OperationCase("openIDConfiguration", { $0.tokenIssuer = .own }) { world in
            { try await world.service.send("GET", "/\(world.service.project.id)/.well-known/openid-configuration") }
        },
    ]
}
