import Development
import Domain
import Foundation
import Storage
import StrictJSON
import Testing
import TestKit
import Text

/// One project with a provider of every kind, none of which is believed about addresses, behind two nodes.
struct ConflictScene: Sendable {
    /// How an account that exists lets its owner in.
    enum Holder: Sendable, Hashable, CaseIterable, CustomTestStringConvertible {
        case password
        case provider(ProviderScene.Kind)

        static var allCases: [Holder] { [.password] + ProviderScene.Kind.allCases.map { .provider($0) } }

        /// As `signinMethods` names it.
        var method: String {
            switch self {
            case .password: "password"
            case .provider(let kind): kind.rawValue
            }
        }

        /// As `verifiedProvider` names it.
        var providers: [String] { self == .password ? [] : [method] }
        var testDescription: String { method }

        /// The kinds that can be new to it.
        var newcomers: [ProviderScene.Kind] { ProviderScene.Kind.allCases.filter { $0.rawValue != method } }
    }

    /// The service that a conflict happens at.
    let first: TestService
    /// Another one, started after the first: all that it knows is in the database.
    let second: TestService
    private let tenants: [ProviderScene.Kind: TestTenant]

    static func run(_ body: @Sendable (ConflictScene) async throws -> Void) async throws {
        try await TestSlots.services.use {
            var tenants: [ProviderScene.Kind: TestTenant] = [:]
            for kind in ProviderScene.Kind.allCases {
                let tenant = try await TestProvider.tenant(kind.personality)
                tenant.addClient(secrets: [ProviderScene.clientSecret], redirects: .anyLocal)
                tenants[kind] = tenant
            }
            try await run(tenants, body)
            for (kind, tenant) in tenants {
                #expect(tenant.violations.isEmpty, "\(kind)")
                let codes = tenant.requests(.token).compactMap { $0.fields["code"] }
                #expect(Set(codes).count == codes.count, "\(kind): a code was exchanged twice")
            }
        }
    }

    private static func run(
        _ tenants: [ProviderScene.Kind: TestTenant],
        _ body: @Sendable (ConflictScene) async throws -> Void
    ) async throws {
        try await TestService.runPair(LinkingWorld.options()) { first, second in
            for (kind, tenant) in tenants {
                try await first.configure(tenant.configuration(as: kind.provider, overrides: ["emailTrust": "never"]))
            }
            try await second.stores.configuration.refresh()
            try await body(ConflictScene(first: first, second: second, tenants: tenants))
        }
    }

    /// A provider as one of the two nodes reaches it.
    func provider(_ kind: ProviderScene.Kind, at service: TestService) throws -> ProviderScene {
        let tenant = try #require(tenants[kind])
        return ProviderScene(service: service, tenant: tenant, kind: kind, ada: TestUser("unused"))
    }

    /// A person at a provider; numbers are ids everywhere.
    func person(_ number: Int, _ name: String, at kind: ProviderScene.Kind) throws -> TestUser {
        try #require(tenants[kind]).addUser(ProviderScene.person(String(number), name, of: kind))
    }

    /// Through the provider's pages.
    func signIn(_ person: TestUser, _ kind: ProviderScene.Kind, at service: TestService) async throws -> Reply {
        let scene = try provider(kind, at: service)
        scene.tenant.nextLogin(person)
        return try await scene.signIn()
    }

    /// The provider's clock is the real one.
    func keepTime() {
        first.clock.set(Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))
    }
}
