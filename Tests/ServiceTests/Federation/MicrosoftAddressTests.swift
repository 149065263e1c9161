import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit

@Suite("Microsoft: addresses", .database, .testProvider)
struct MicrosoftAddressTests {
    private static let home = ProviderPersonality.microsoftHome

    private func user(_ scene: ProviderScene, _ claims: JSONObject) -> TestUser {
        var user = scene.ada
        user.claims = claims
        return user
    }

    struct Address: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var email: String
        var claims: JSONObject
        /// As reported with the sign-in, and whether it opens the account that has the address.
        var isVerified: Bool
        var isTrusted: Bool
        var isTrustedStrictly: Bool

        init(_ name: String, _ email: String, _ claims: JSONObject, _ expected: (Bool, Bool, Bool)) {
            (testDescription, self.email, self.claims) = (name, email, claims)
            (isVerified, isTrusted, isTrustedStrictly) = expected
        }
    }

    @Test(
        "T-A1: an address is an admin's word, unless Microsoft issued it or says that its domain is verified",
        arguments: [
            Address("a directory's claim", "ada@example.com", [:], (false, false, false)),
            Address("a directory's claim of an outlook.com address", "ada@outlook.com", [:], (false, false, false)),
            Address("its Graph profile too", "ada@hotmail.com", ["email": .null], (false, false, false)),
            Address("personal, at Microsoft", "ada@outlook.com", ["tid": .string(home)], (true, true, false)),
            Address("personal, elsewhere", "ada@example.com", ["tid": .string(home)], (true, false, false)),
            Address("domain verified", "ada@example.com", ["xms_edov": true], (true, false, true)),
            Address("domain verified, as 1", "ada@example.com", ["xms_edov": 1], (true, false, true)),
            Address("domain verified, as text", "ada@example.com", ["xms_edov": "1"], (true, false, true)),
            Address("domain verified, as true in text", "ada@example.com", ["xms_edov": "true"], (true, false, true)),
            Address("domain not verified", "ada@example.com", ["xms_edov": false], (false, false, false)),
            Address("domain not verified, as 0", "ada@outlook.com", ["xms_edov": "0"], (false, false, false)),
        ],
        [false, true]
    )
    func addresses(_ address: Address, isStrict: Bool) async throws {
        var options = ProviderScene.Options()
        options.service.settings.strictEmailTrust = isStrict
        try await ProviderScene.run(.microsoft, options) { scene in
            // Somebody has the address, unproved; the one who proves it takes it over.
            let owner = try await scene.service.signUp(address.email)
            var ada = user(scene, address.claims)
            ada.email = address.email
            scene.tenant.nextLogin(ada)
            let reply = try await scene.signIn()
            reply.expectOK()
            #expect(reply["email"]?.string == address.email)
            if isStrict ? address.isTrustedStrictly : address.isTrusted {
                #expect(reply.localID == owner.localID)
            } else {
                #expect(reply["needConfirmation"] == true, "\(reply)")
                #expect(reply.idToken == nil)
            }
        }
    }

    @Test("a guest's name in a directory is no address")
    func guests() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            var guest = scene.ada
            guest.email = nil
            guest.login = "ada_example.com#EXT#@acme.onmicrosoft.com"
            scene.tenant.nextLogin(guest)
            let reply = try await scene.signIn()
            reply.expectOK()
            #expect(reply["email"] == nil)
            #expect(reply["screenName"]?.string == guest.login)
            var member = scene.addGrace()
            member.email = nil
            member.login = "grace@acme.onmicrosoft.com"
            scene.tenant.nextLogin(member)
            let named = try await scene.signIn()
            #expect(named["email"] == "grace@acme.onmicrosoft.com")
            #expect(named["emailVerified"] == false)
        }
    }

}
