import Accounts
import Domain
import Foundation
import IdentityService
import Passwords
import StrictJSON
import Testing
import TestKit

@Suite("User objects")
struct AccountReplyTests {
    private let document: OpenAPIDocument

    init() throws { document = try OpenAPIDocument.ofRepository() }

    private static let full: Account = {
        var account = Account(
            id: AccountID("u1"),
            validSince: 1_700_000_000,
            createdAt: Date(timeIntervalSince1970: 1_700_000_000.25)
        )
        account.email = EmailAddress("Ada@Example.com")
        account.emailVerified = true
        account.initialEmail = "old@example.com"
        account.displayName = "Ada"
        account.photoURL = ""
        account.phoneNumber = "+15550101"
        account.hasPassword = true
        account.passwordUpdatedAt = Date(timeIntervalSince1970: 1_700_000_001)
        account.customAttributes = #"{"admin":true}"#
        account.disabled = false
        account.lastSignInAt = Date(timeIntervalSince1970: 1_700_000_002)
        account.lastRefreshAt = Date(timeIntervalSince1970: 1_700_000_003.5)
        account.linked = [
            LinkedCredential(
                provider: .github,
                subject: "42",
                email: "ada@users.example",
                profile: Profile(screenName: "ada")
            ),
            LinkedCredential(provider: .google, subject: "1234", profile: Profile(displayName: "Ada L.")),
        ]
        return account
    }()

    private func write(_ account: Account, for view: AccountView) throws -> JSONValue {
        var json = JSONWriter()
        json.object { $0.account(account, for: view) }
        #expect(document.check(component: "UserInfo", json: json.text) == [])
        return try JSONValue(parsing: json.text)
    }

    @Test("has strings for 64-bit integers, a number for passwordUpdatedAt and RFC 3339 for lastRefreshAt")
    func numbers() throws {
        let user = try write(Self.full, for: .client)
        #expect(user["validSince"]?.text == "1700000000")
        #expect(user["createdAt"]?.text == "1700000000250")
        #expect(user["lastLoginAt"]?.text == "1700000002000")
        #expect(user["passwordUpdatedAt"]?.number == 1_700_000_001_000)
        #expect(user["lastRefreshAt"]?.text == "2023-11-14T22:13:23.500Z")
    }

    @Test("lists identity providers, then the phone, the password last")
    func providers() throws {
        let providers = try write(Self.full, for: .client)["providerUserInfo"]?.elements ?? []
        #expect(providers.map { $0["providerId"]?.text } == ["github.com", "google.com", "phone", "password"])
        #expect(providers[0].members.map(\.name) == ["providerId", "screenName", "federatedId", "email", "rawId"])
        #expect(providers[0]["federatedId"]?.text == "42")
        #expect(providers[2].members.map(\.name) == ["providerId", "rawId", "phoneNumber"])
        #expect(providers[3]["federatedId"]?.text == "ada@example.com")
        #expect(providers[3]["photoUrl"]?.text == "")
    }

    @Test("shows custom claims to admins, and a password's hash in a download alone")
    func views() throws {
        let client = try write(Self.full, for: .client)
        #expect(client["customAttributes"] == nil)
        #expect(client["passwordHash"]?.text == "UkVEQUNURUQ=")
        let admin = try write(Self.full, for: .admin)
        #expect(admin["customAttributes"]?.text == #"{"admin":true}"#)
        #expect(admin["passwordHash"]?.text == "UkVEQUNURUQ=")
        let hash = PasswordHash(salt: [0xff], hash: [0xfb, 0xff], parameters: .standard)
        let export = try write(Self.full, for: .export(hash))
        #expect(export["passwordHash"]?.text == "-_8=")
        #expect(export["salt"]?.text == "_w==")
        #expect(export["version"]?.number == 0)
    }

    @Test("leaves out what an account does not have")
    func anonymous() throws {
        let account = Account(id: AccountID("u"), validSince: 0, createdAt: Date(timeIntervalSince1970: 0))
        for view in [AccountView.client, .admin, .export(nil)] {
            #expect(try write(account, for: view).members.map(\.name) == ["localId", "createdAt"])
        }
    }

    @Test("lists the password for an account that signs in by email link, and none without an address")
    func emailLink() throws {
        var account = Account(id: AccountID("u"), validSince: 1, createdAt: Date(timeIntervalSince1970: 0))
        account.emailLinkSignIn = true
        #expect(try write(account, for: .client)["providerUserInfo"] == nil)
        account.email = EmailAddress("a@b.example")
        let user = try write(account, for: .client)
        #expect(user["providerUserInfo"]?[0]?["providerId"]?.text == "password")
        #expect(user["passwordHash"] == nil)
        #expect(user["emailVerified"]?.bool == false)
    }
}
