import Accounts
import Development
import Domain
import Federation
import Foundation
import IdentityService
import Outbound
import Postgres
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

extension ProviderScene.Options {
    /// Of a provider whose tokens are kept.
    static func keepingTokens(
        _ personality: @escaping @Sendable (inout ProviderPersonality) -> Void = { _ in }
    ) -> ProviderScene.Options {
        var options = ProviderScene.Options()
        options.definition = ["keepTokens": true]
        options.personality = personality
        return options
    }
}

extension TestService {
    func providerToken(_ provider: String, _ idToken: String?) async throws -> Reply {
        try await call("accounts:providerToken", ["idToken": JSON(idToken), "providerId": .string(provider)])
    }
}

extension ProviderScene {
    func providerToken(_ idToken: String?) async throws -> Reply {
        let reply = try await service.providerToken(kind.rawValue, idToken)
        secrets.add(from: reply)
        return reply
    }

    /// An ID token of the same session that is good now.
    func session(_ user: Reply) async throws -> String? {
        let reply = try await service.refresh(user.refreshToken)
        secrets.add(from: reply)
        return reply.idToken
    }

    /// What the provider's profile says to an access token.
    func profileStatus(with token: String?) async throws -> Int {
        let scheme = kind == .feedly ? "OAuth" : "Bearer"
        let headers = [("Authorization", "\(scheme) \(token ?? "")"), ("User-Agent", "tests")]
        return try await PlainHTTP.send("GET", tenant.url(.userinfo) ?? "", headers: headers).status
    }

    /// How many columns of the linked credentials hold tokens.
    func keptColumns() async throws -> Int {
        let counts = try await service.stores.database.query(
            """
            SELECT count(tokens) + count(refresh_token) FROM linked_credentials
            WHERE project = \(service.project.id.rawValue)
            """
        ) { try $0.next(Int64.self) }
        return Int(counts.first ?? -1)
    }

    func rows() async throws -> Int {
        try await service.stores.database.query(
            "SELECT true FROM linked_credentials WHERE project = \(service.project.id.rawValue)"
        ) { try $0.next(Bool.self) }.count
    }
}
