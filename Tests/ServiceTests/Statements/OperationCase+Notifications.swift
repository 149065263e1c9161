import Crypto
import Development
import Domain
import Foundation
import Projects
import Secrets
import Testing
import TestKit

extension OperationCase {
    static let notifications: [OperationCase] = [
        OperationCase("receiveNotification, a grant withdrawn") { world in
            _ = try await world.github(world.githubPerson())
            let secret = try await world.service.admin(
                "defaultSupportedIdpConfigs/github.com?updateMask=webhookSecret",
                ["webhookSecret": "webhook"],
                method: "PATCH",
                version: "v2"
            )
            secret.expectOK()
            world.service.clock.advance(by: 10)
            let text = #"{"action":"revoked","sender":{"id":7001}}"#
            let headers = [
                ("X-GitHub-Event", "github_app_authorization"), ("X-GitHub-Delivery", "1"),
                ("X-Hub-Signature-256", "sha256=\(Array(code(text, "webhook")).lowercaseHex)"),
            ]
            let path = "/v1/projects/\(world.service.project.id)/notifications/github.com"
            return { try await world.service.post(path, text: text, headers: headers) }
        },
        OperationCase("receiveDeletionRequest") { world in
            let path = try await world.facebook()
            return { try await world.deletionRequest(path) }
        },
        OperationCase("deletionPage") { world in
            let path = try await world.facebook()
            let reply = try await world.deletionRequest(path)
            let code = try #require(reply["confirmation_code"]?.string, "\(reply)")
            return { try await world.service.send("GET", "\(path)/deletion/\(code)") }
        },
    ]

    fileprivate static func code(_ text: String, _ secret: String) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: Array(secret.utf8)))
    }
}

extension LinkingWorld {
    /// Configures Facebook.
    ///
    /// - Returns: the path of its notifications.
    fileprivate func facebook() async throws -> String {
        let tenant = try await TestProvider.tenant(.facebook, name: "facebook")
        tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
        try await service.configure(tenant.configuration(as: "facebook.com"))
        return "/v1/projects/\(service.project.id)/notifications/facebook.com"
    }

    fileprivate func deletionRequest(_ path: String) async throws -> Reply {
        let payload: JSON = [
            "algorithm": "HMAC-SHA256", "issued_at": .number(Double(service.clock.seconds)), "user_id": "42",
        ]
        let encoded = Base64URL.encode(Array(payload.text.utf8))
        let code = Base64URL.encode(Array(OperationCase.code(encoded, "secret")))
        return try await service.send(
            "POST",
            "\(path)/deletion",
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array("signed_request=\(code).\(encoded)".utf8)
        )
    }
}
