import Domain
import Testing
import TestKit

/// Who may say what about an account.
@Suite("Fields of an account", .database, .testProvider, .serialized)
struct OwnedFieldsTests {
    /// A member of a request that is not its sender's to say.
    struct Field: Sendable, CustomTestStringConvertible {
        var name: String
        var value: JSON
        /// What an admin's word does to the account as admins see it; nil where it does nothing either.
        var shown: (name: String, value: JSON)?
        var testDescription: String { name }
    }

    static let fields: [Field] = [
        Field(name: "emailVerified", value: true, shown: ("emailVerified", true)),
        Field(name: "customAttributes", value: #"{"role":"admin"}"#, shown: ("customAttributes", #"{"role":"admin"}"#)),
        Field(name: "disableUser", value: true, shown: ("disabled", true)),
        Field(name: "phoneNumber", value: "+491701234567", shown: ("phoneNumber", "+491701234567")),
        Field(name: "createdAt", value: "1000000001000", shown: ("createdAt", "1000000001000")),
        Field(name: "lastLoginAt", value: "1000000001000", shown: ("lastLoginAt", "1000000001000")),
        Field(name: "validSince", value: "4102444800", shown: ("validSince", "4102444800")),
        Field(name: "linkProviderUserInfo", value: ["providerId": "oidc.acme", "rawId": "R"]),
        Field(name: "localId", value: "chosen"), Field(name: "initialEmail", value: "eve@example.com"),
        Field(name: "customAuth", value: true), Field(name: "emailLinkSignin", value: true),
        Field(name: "passwordHash", value: "AAAA"), Field(name: "salt", value: "AAAA"),
        Field(name: "version", value: 7), Field(name: "tenantId", value: "other"),
        Field(name: "providerUserInfo", value: [["providerId": "google.com", "rawId": "1"]]),
        Field(name: "mfaInfo", value: [["phoneInfo": "+491701234567"]]),
        Field(name: "passwordUpdatedAt", value: 1000), Field(name: "disabled", value: true),
        Field(name: "custom_attributes", value: #"{"role":"admin"}"#), Field(name: "email_verified", value: true),
    ]

    /// What time alone changes is left out.
    private func account(_ world: LinkingWorld, _ localID: String?) async throws -> JSON? {
        try await world.service.account(localID)?.without("lastRefreshAt", "lastLoginAt", "validSince", "createdAt")
    }

    @Test("T-D10: what is not theirs to say people say in vain, and admins effectively", arguments: fields)
    func owned(_ field: Field) async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let plain = try await service.signUp("plain@example.com")
            let chosen = try await service.call(
                "accounts:signUp",
                ["email": "ada@example.com", "password": "correct horse", field.name: field.value]
            )
            if chosen.status == 200 {
                // It is an account like any other.
                let usual = try await account(world, plain.localID)?.without("localId", "email", "passwordUpdatedAt")
                let made = try await account(world, chosen.localID)?.without("localId", "email", "passwordUpdatedAt")
                #expect(made != nil && made?.without("providerUserInfo") == usual?.without("providerUserInfo"))
                #expect(made?.providers == ["password"] && chosen.localID != "chosen")
                #expect(chosen.claims["role"] == nil && chosen.claims["email_verified"] == false)
            } else {
                #expect(chosen.status == 400, "\(chosen)")
            }
            let user = chosen.status == 200 ? chosen : plain
            let before = try await account(world, user.localID)
            let times = try await service.account(user.localID)
            let reply = try await service.call(
                "accounts:update",
                ["idToken": JSON(user.idToken), field.name: field.value]
            )
            #expect([200, 400].contains(reply.status), "\(reply)")
            #expect(try await account(world, user.localID) == before, "\(reply)")
            let after = try #require(try await service.account(user.localID))
            #expect(after["createdAt"] == times?["createdAt"] && after["lastLoginAt"] == times?["lastLoginAt"])
            #expect(after["validSince"] != "4102444800")
            #expect(try await service.signInWithPassword(before?["email"]?.string ?? "").claims["role"] == nil)
            guard let shown = field.shown else { return }
            try await world.update(user.localID, [field.name: field.value])
            #expect(try await service.account(user.localID)?[shown.name] == shown.value)
        }
    }
}
