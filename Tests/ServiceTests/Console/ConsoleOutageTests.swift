import Development
import Foundation
import Logging
import Migrations
import Postgres
import Projects
import Storage
import TestKit
import Testing

@Suite("The console without its database")
struct ConsoleOutageTests {
    @Test("says so on every page, and goes on with the same session when it is back", .timeLimit(.minutes(10)))
    func lostDatabase() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/console-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = PrivateCluster(folder: folder, durable: false)
        try await first.start()
        let conninfo = try #require(first.conninfo)
        let migrating = PostgresClient(.migrating(conninfo), logger: Logger(label: "migrations"))
        try await Migrator(migrating).migrate()
        await migrating.close()
        try await TestSlots.services.use {
            try await TestService.runConsole {
                $0.conninfo = conninfo
                $0.waitsForDatabase = false
            } _: { service in
                let person = try await ConsolePerson.setUp(service)
                let user = try await service.signUp("ada@example.com")
                let page = try await person.open(person.path(user.localID))
                await first.stop()
                for path in ["/console", "/console/\(service.project.id)/accounts", person.path(user.localID)] {
                    let lost = try await person.open(path)
                    #expect(lost.status == 503 && lost.header("retry-after") != nil, "\(path)")
                    #expect(lost.heading == "Service unavailable", "\(lost.text)")
                    #expect(!lost.text.lowercased().contains("postgres"), "\(lost.text)")
                }
                let notDone = try await person.press("Disable account", on: page)
                #expect(notDone.status == 503, "\(notDone.text)")
                #expect(try await person.elsewhere().signIn().status == 503)
                try await person.open("/console/sign-in").expectOK()

                let second = PrivateCluster(folder: folder, durable: false)
                try await second.start()
                try await waitUntil { try await person.open("/console").status != 503 }
                let back = try await person.open("/console")
                #expect(back.heading == "Projects", "\(back.text)")
                try await person.press("Disable account", on: page).expectOK()
                await second.stop()
            }
        }
    }
}
