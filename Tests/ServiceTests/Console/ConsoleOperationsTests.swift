import Foundation
import Projects
import Sessions
import Storage
import TestKit
import Testing

@Suite("Operations at the console", .database)
struct ConsoleOperationsTests {
    @Test("shows the signing keys and what waits, and says so where nothing does")
    func operations() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let page = try await person.open("/console/operations")
            #expect(page.heading == "Operations" && page.text.contains("The outbox is empty"), "\(page.text)")
            for key in service.stores.configuration.signingKeyTimeline.keys {
                #expect(page.text.contains("<code>\(key.kid)</code>"), "\(key)")
            }
            let user = try await service.signUp("ada@example.com")
            _ = try await service.call(
                "accounts:sendOobCode",
                ["requestType": "VERIFY_EMAIL", "idToken": JSON(user.idToken)]
            )
            let later = try await person.open("/console/operations")
            #expect(later.text.contains("Next messages") && later.text.contains("<td>\(service.project.id)</td>"))
            #expect(
                later.text.contains("<td>mail</td>") && !later.text.contains("The outbox is empty"),
                "\(later.text)"
            )
        }
    }
}
