import Crypto
import Development
import Domain
import Foundation
import InMemoryLogging
import Projects
import Secrets
import Storage
import StrictJSON
import Testing
import TestKit

/// Notifications as the providers send them.
extension ProviderScene {
    func notify(
        _ body: String,
        path: String = "",
        type: String = "application/json",
        headers: [(String, String)] = []
    ) async throws -> Reply {
        try await service.send(
            "POST",
            "/v1/projects/\(service.project.id)/notifications/\(provider)\(path)",
            headers: [("Content-Type", type)] + headers,
            body: Array(body.utf8)
        )
    }

    func google(
        _ event: String,
        id: String,
        _ members: JSONObject = [:],
        changes: IDTokenChanges = .none
    ) async throws -> Reply {
        var details: JSONObject = [
            "subject": [
                "subject_type": "iss-sub", "iss": .string(tenant.issuer), "sub": .string(ada.subject),
            ]
        ]
        details.change(set: members)
        var changes = changes
        var claims: JSONObject = [
            "jti": .string(id), "aud": "client", "iat": .integer(service.clock.seconds),
            "events": [event: .object(details)],
        ]
        claims = claims.changed(set: changes.set).changed(remove: changes.remove)
        changes.set = claims
        changes.remove.formUnion(["sub", "azp"])
        changes.header["typ"] = "secevent+jwt"
        let jwt = try tenant.mintIDToken(for: TestUser("x"), scopes: [], changes: changes)
        return try await notify(jwt, type: "application/secevent+jwt")
    }

    func facebook(
        _ changes: JSONObject = [:],
        secret: String = ProviderScene.clientSecret,
        signsDecoded: Bool = false,
        path: String = ""
    ) async throws -> Reply {
        var payload: JSONObject = [
            "algorithm": "HMAC-SHA256", "issued_at": .integer(service.clock.seconds), "user_id": .string(ada.subject),
        ]
        payload.change(set: changes)
        let encoded = Base64URL.encode(payload.jsonText.utf8)
        let code = HMAC<SHA256>.authenticationCode(
            for: Array((signsDecoded ? payload.jsonText : encoded).utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        return try await notify(
            "signed_request=\(Base64URL.encode(Array(code))).\(encoded)",
            path: path,
            type: "application/x-www-form-urlencoded"
        )
    }

    func github(
        _ body: String,
        secret: String,
        signed: String? = nil,
        algorithm: String = "sha256",
        event: String = "github_app_authorization",
        delivery: String = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
    ) async throws -> Reply {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array((signed ?? body).utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        return try await notify(
            body,
            headers: [
                ("X-GitHub-Event", event), ("X-GitHub-Delivery", delivery),
                ("X-Hub-Signature-256", "\(algorithm)=\(Array(code).lowercaseHex)"),
            ]
        )
    }

    func setWebhookSecret() async throws -> String {
        let secret = "webhook-s3cret"
        secrets.add(secret)
        let change = try await service.admin(
            "defaultSupportedIdpConfigs/github.com?updateMask=webhookSecret",
            ["webhookSecret": .string(secret)],
            method: "PATCH",
            version: "v2"
        )
        change.expectOK()
        #expect(!change.description.contains(secret))
        return secret
    }

    func setPublicKey(_ key: Curve25519.Signing.PublicKey) async throws {
        try await setVariable("publicKey", Array(key.rawRepresentation).lowercaseHex)
    }

    func setVariable(_ name: String, _ value: String) async throws {
        _ = try await service.stores.configuration.updateProvider(provider, in: Scope(project: service.project.id)) {
            $0.overrides = $0.overrides?.replacing(
                #""variables":{"#,
                with: #""variables":{"\#(name)":"\#(value)","#
            )
        }
    }

    /// Discord's times have microseconds and no zone.
    func deauthorization(at date: Date) -> String {
        let time = date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: false)) + ".064834"
        return #"{"version":1,"application_id":"1","type":1,"event":{"type":"APPLICATION_DEAUTHORIZED","#
            + #""timestamp":"\#(time)","data":{"user":{"id":"\#(ada.subject)"}}}}"#
    }

    /// Why notifications were refused, by the log.
    var refusals: [String] {
        service.logs.entries.compactMap { entry in
            guard entry.metadata["http.path"].map({ "\($0)".hasSuffix("/notifications/{provider}") }) == true else {
                return nil
            }
            return entry.metadata["error.code"] == nil
                ? nil : entry.metadata["error.cause"].map { "\($0)" } ?? "unknown"
        }
    }

    func discord(_ body: String, _ key: Curve25519.Signing.PrivateKey, _ time: Int64) async throws -> Reply {
        let signature = try key.signature(for: Array("\(time)\(body)".utf8))
        return try await notify(
            body,
            headers: [
                ("X-Signature-Timestamp", "\(time)"), ("X-Signature-Ed25519", Array(signature).lowercaseHex),
            ]
        )
    }

    func state(_ localID: String?) async throws -> String? {
        try await service.admin(
            "accounts:credentialState",
            ["localId": JSON(localID), "providerId": .string(provider.rawValue)]
        )["credentialState"]?.string
    }
}
