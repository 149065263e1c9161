import Development
import Domain
import Testing
import TestKit

/// What the account with the address holds before somebody else's provider asserts that address.
struct HeldAccount: Sendable, CustomTestStringConvertible {
    var name: String
    var verified: Bool
    /// The identity providers among the methods, sorted.
    var providers: [String] = []
    var ways: [WayIn] = []
    /// Has another subject of `oidc.acme`.
    var recycled = false
    var disabled = false
    var make: @Sendable (LinkingWorld) async throws -> String?

    var testDescription: String { name }

    /// How its owner signs in.
    enum WayIn: Sendable {
        case password
        case github
        case google

        func tryIt(_ world: LinkingWorld) async throws -> Reply {
            switch self {
            case .password: try await world.service.signInWithPassword("ada@example.com")
            case .github: try await world.github(world.githubPerson())
            case .google: try await world.google(world.googlePerson())
            }
        }
    }

    static let all: [HeldAccount] = [
        HeldAccount(name: "password, unverified", verified: false, ways: [.password]) { world in
            try await world.service.signUp("ada@example.com").localID
        },
        HeldAccount(name: "password, verified", verified: true, ways: [.password]) { world in
            try await world.account(withPassword.merging(["emailVerified": true]))
        },
        HeldAccount(name: "untrusted provider, unverified", verified: false, providers: ["github.com"], ways: [.github])
        {
            try await $0.github($0.githubPerson()).localID
        },
        HeldAccount(name: "untrusted provider, verified", verified: true, providers: ["github.com"], ways: [.github]) {
            let account = try await $0.github($0.githubPerson()).localID
            try await $0.update(account, ["emailVerified": true])
            return account
        },
        HeldAccount(name: "trusted provider, verified", verified: true, providers: ["google.com"], ways: [.google]) {
            try await $0.google($0.googlePerson()).localID
        },
        HeldAccount(
            name: "password and untrusted provider, unverified",
            verified: false,
            providers: ["github.com"],
            ways: [.password, .github]
        ) { world in
            let owner = try await world.service.signUp("ada@example.com")
            let linked = try await world.github(world.githubPerson(), idToken: owner.idToken)
            linked.expectSignedIn(as: owner.localID)
            return owner.localID
        },
        HeldAccount(
            name: "password and two providers, verified",
            verified: true,
            providers: ["github.com", "google.com"],
            ways: [.password, .github, .google]
        ) { world in
            let account = try await world.account(withPassword.merging(["emailVerified": true]))
            let owner = try await world.service.signInWithPassword("ada@example.com")
            try await world.github(world.githubPerson(), idToken: owner.idToken).expectSignedIn(as: account)
            try await world.google(world.googlePerson(), idToken: owner.idToken).expectSignedIn(as: account)
            return account
        },
        HeldAccount(name: "phone, unverified", verified: false) {
            try await $0.account(["email": "ada@example.com", "phoneNumber": "+491701234567"])
        },
        HeldAccount(name: "phone, verified", verified: true) {
            try await $0.account(
                ["email": "ada@example.com", "phoneNumber": "+491701234567", "emailVerified": true]
            )
        },
        HeldAccount(
            name: "another subject of this provider, verified",
            verified: true,
            providers: ["oidc.acme"],
            recycled: true
        ) { try await $0.acme($0.person("R′")).localID },
        HeldAccount(
            name: "another subject of this provider, unverified",
            verified: false,
            providers: ["oidc.acme"],
            recycled: true
        ) { try await $0.acme($0.person("R′", verified: false)).localID },
        HeldAccount(name: "an admin's address and claims, unverified", verified: false) { world in
            let account = try await world.account(["email": "ada@example.com"])
            try await world.update(account, ["customAttributes": #"{"role":"captain"}"#])
            return account
        },
        HeldAccount(name: "an admin's address and claims, verified", verified: true) { world in
            let account = try await world.account(["email": "ada@example.com", "emailVerified": true])
            try await world.update(account, ["customAttributes": #"{"role":"captain"}"#])
            return account
        },
        HeldAccount(name: "no method left, unverified", verified: false) { world in
            let account = try await world.service.signUp("ada@example.com").localID
            try await world.update(account, ["deleteProvider": ["password"]])
            return account
        },
        HeldAccount(name: "no method left, verified", verified: true) { world in
            let account = try await world.google(world.googlePerson()).localID
            try await world.update(account, ["deleteProvider": ["google.com"]])
            return account
        },
        HeldAccount(name: "disabled, unverified", verified: false, disabled: true) { world in
            let account = try await world.service.signUp("ada@example.com").localID
            try await world.update(account, ["disableUser": true])
            return account
        },
        HeldAccount(name: "disabled, verified", verified: true, providers: ["google.com"], disabled: true) { world in
            let account = try await world.google(world.googlePerson()).localID
            try await world.update(account, ["disableUser": true])
            return account
        },
    ]

    private static let withPassword: JSON = ["email": "ada@example.com", "password": "correct horse"]
}

extension JSON {
    func merging(_ other: JSON) -> JSON {
        .object((object ?? [:]).merging(other.object ?? [:]) { _, new in new })
    }
}
