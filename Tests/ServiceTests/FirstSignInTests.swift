import Development
import Domain
import Testing
import TestKit

@Suite("The main job", .database, .testProvider)
struct MainJobTests {
    @Test("R-79: signs in through a real provider, over a real code exchange")
    func signsInThroughAProvider() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
        tenant.everyLogin(tenant.addUser(TestUser("ada-1", email: "ada@example.com", emailVerified: true, name: "Ada")))
        try await TestService.run { service in
            try await service.configure(tenant.configuration(as: "oidc.acme"))
            let reply = try await service.signIn(through: "oidc.acme")
            reply.expectOK()
            #expect(reply["isNewUser"] == true)
            #expect(reply["email"] == "ada@example.com")
            let account = try await service.account(reply.localID)
            #expect(account?["providerUserInfo"]?[0]?["rawId"] == "ada-1")
        }
    }
}
