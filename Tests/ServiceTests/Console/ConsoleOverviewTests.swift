import Accounts
import Domain
import Foundation
import IdentityService
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("The overview of the console", .database, .testProvider)
struct ConsoleOverviewTests {
    /// A test that runs over midnight counts the same.
    private static func setNoon(_ clock: SteppableClock) {
        let noon = (clock.seconds / 86_400) * 86_400 + 43_200
        clock.set(Date(timeIntervalSince1970: Double(noon)))
    }

    private static func run(_ body: @Sendable (LinkingWorld) async throws -> Void) async throws {
        try await TestService.runConsole {
            $0 = LinkingWorld.options()
        } _: { service in
            setNoon(service.clock)
            try await body(LinkingWorld(service))
        }
    }

    private static func count(_ service: TestService) async throws -> CountSignIns.Result {
        await service.assembly.signInCounts.save()
        return try await service.assembly.accounts.countSignIns(service.project)
    }

    @Test("shows the webhooks that were given up, and sends them again for whoever may change the configuration")
    func webhooks() async throws {
        try await WebReceiver.run { receiver in
            receiver.answer { _ in (410, "") }
            try await TestService.runConsole {
                $0.sendsMessages = true
                $0.settings.delivery.webhook = WebhookEndpoint(
                    url: receiver.baseURL + "/hook",
                    types: [.accountCreated],
                    secrets: [Secret("whsec_" + Data(repeating: 7, count: 32).base64EncodedString())]
                )
            } _: { service in
                let path = "/console/\(service.project.id)/overview"
                let person = try await ConsolePerson.setUp(service)
                #expect(try await !person.open(path).text.contains("given up"))
                let user = try await service.signUp("ada@example.com")
                _ = try await service.assembly.deliveries.deliverDue()
                let page = try await person.open(path)
                #expect(
                    page.text.contains("account.created") && page.text.contains(user.localID ?? "?"),
                    "\(page.text)"
                )

                let reader = try await ConsolePerson.setUp(service, "reader@example.com", scopes: [.readAccounts])
                #expect(try await !reader.open(path).text.contains("given up"))
                let fields = [("token", try await reader.token())]
                let refused = try await reader.send("POST", "/console/\(service.project.id)/webhooks", fields)
                #expect(refused.status == 403)

                receiver.answer { _ in (200, "") }
                let done = try await person.press("Send again", ["reason": "endpoint mended"], on: page)
                #expect(done.text.contains("The webhooks are due again") && !done.text.contains("account.created"))
                let before = receiver.received.count
                _ = try await service.assembly.deliveries.deliverDue()
                let bodies = receiver.received.dropFirst(before).map(\.text)
                #expect(bodies.count == 1 && bodies[0].contains(user.localID ?? "?"))
                let log = try await person.open("/console/\(service.project.id)/audit")
                #expect(log.text.contains("Webhooks resent") && log.text.contains("endpoint mended"), "\(log.text)")
            }
        }
    }

    @Test("counts sign-ins by method, outcome and day, of all nodes; nothing older, and nobody else's")
    func counts() async throws {
        var options = LinkingWorld.options()
        options.ownPages = true
        try await TestService.runPair(options) { service, other in
            Self.setNoon(service.clock)
            _ = try await service.signUp("ada@example.com")
            _ = try await service.signInWithPassword("ada@example.com")
            _ = try await service.signInWithPassword("ada@example.com", "wrong password")
            service.clock.advance(by: 86_400)
            _ = try await service.signInWithPassword("ada@example.com")
            _ = try await other.signInWithPassword("ada@example.com")
            await other.assembly.signInCounts.save()
            let result = try await Self.count(service)
            #expect(result.days.count == 14)
            let password = try #require(result.methods.first { $0.method == .password }).outcomes
            #expect(password[.signedUp].map { Array($0.suffix(3)) } == [0, 1, 0], "\(password)")
            #expect(password[.signedIn].map { Array($0.suffix(3)) } == [0, 1, 2], "\(password)")
            #expect(password[.refused].map { Array($0.suffix(3)) } == [0, 1, 0], "\(password)")
            // What is in the database is counted once.
            #expect(try await Self.count(service).methods.first?.outcomes == password)

            let person = try await ConsolePerson.setUp(service)
            let page = try await person.open("/console/\(service.project.id)/overview")
            #expect(page.text.contains("Sign-ins by method: 4 in 14 days, 2 on the busiest day"), "\(page.text)")
            #expect(page.text.contains("Outcomes: 5 in 14 days, 3 on the busiest day"), "\(page.text)")
            #expect(page.text.contains("No account conflicts."), "\(page.text)")
            let today = String(service.clock.current.ISO8601Format().prefix(10))
            #expect(page.text.contains("<title>\(today): 2\nPassword: 2</title>"), "\(page.text)")
            for step in 0...2 { #expect(page.text.contains(">\(step)</text>"), "the axis: \(page.text)") }
            service.clock.advance(by: 14 * 86_400)
            #expect(try await Self.count(service).methods.isEmpty)
        }
    }

    @Test("counts conflicts, and those that ended with a link, where they are found")
    func conflicts() async throws {
        try await Self.run { world in
            let service = world.service
            let ada = try await service.signUp("ada@example.com")
            let conflict = try await world.github(world.githubPerson())
            let found = try await Self.count(service)
            #expect(found.resolved.allSatisfy { $0 == 0 })
            let conflicts: CountSignIns.Counts? = found.methods.first { $0.method == .github }?.outcomes[.conflict]
            #expect(conflicts?.last == 1, "\(found)")
            let linked = try await world.resume(conflict.pendingToken, idToken: ada.idToken)
            linked.expectOK()
            #expect(try await Self.count(service).resolved.last == 1)
        }
    }

    @Test("what cannot be saved is saved the next time")
    func lostTable() async throws {
        try await Self.run { world in
            let service = world.service
            _ = try await service.signUp("ada@example.com")
            try await service.stores.database.execute("ALTER TABLE sign_in_counts RENAME TO gone")
            await service.assembly.signInCounts.save()
            try await service.stores.database.execute("ALTER TABLE gone RENAME TO sign_in_counts")
            _ = try await service.signInWithPassword("ada@example.com")
            let outcomes = try await Self.count(service).methods.first?.outcomes
            #expect(outcomes?[.signedUp]?.last == 1 && outcomes?[.signedIn]?.last == 1, "\(outcomes ?? [:])")
        }
    }

    @Test("explains what to do where no user has signed in")
    func empty() async throws {
        try await TestService.runConsole { service in
            let person = try await ConsolePerson.setUp(service)
            let page = try await person.open("/console/\(service.project.id)/overview")
            #expect(page.text.contains("No sign-ins in the last two weeks"), "\(page.text)")
            #expect(page.text.contains("(mail-server-missing)"), "\(page.text)")
            let reader = try await ConsolePerson.setUp(service, "reader@example.com", scopes: [.readAccounts])
            let less = try await reader.open("/console/\(service.project.id)/overview")
            #expect(less.status == 200 && !less.text.contains("mail-server-missing"), "\(less.text)")
        }
    }
}
