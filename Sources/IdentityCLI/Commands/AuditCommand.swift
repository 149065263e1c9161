import ArgumentParser
import Domain
import Foundation
import IdentityService
import Projects
import Storage

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Read the audit log.",
        subcommands: [List.self, Export.self]
    )

    struct Options: ParsableArguments {
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The project; default: entries of the deployment, such as signing keys and admin keys.")
        var project: String?
        @OptionGroup var tenant: TenantOption
        @Option(help: "An account ID, of the tenant or else of the project itself.") var account: String?
        @Option(help: "An action such as SIGNED_IN or SETTINGS_CHANGED.") var action: String?
        @Option(help: "An actor such as admin:… or account.") var actor: String?
        @Option(help: "From this date: 2026-01-31, or with a time 2026-01-31T12:00:00Z.")
        var since: String?
        @Option(help: "Before this date.") var until: String?

        /// Reads page by page until `body` returns false.
        func forEachPage(_ size: Int, _ body: ([RecordedChange]) throws -> Bool) async throws {
            var query = AuditQuery()
            query.account = account.map { AccountID($0) }
            query.actor = actor
            query.action = try action.map { name in
                guard let action = AuditAction(rawValue: name) else {
                    let names = AuditAction.allCases.map(\.rawValue).joined(separator: ", ")
                    throw CommandFailure.usage("'\(name)' is not an action; actions are \(names)")
                }
                return action
            }
            query.since = try since.map(Date.init(argument:))
            query.until = try until.map(Date.init(argument:))
            query.tenant = tenant.tenant.map { TenantID(rawValue: $0) }
            // A deleted project is allowed too: its entries stay.
            let project = try project.map { text in
                guard let id = ProjectID(rawValue: text) else {
                    throw CommandFailure.usage("'\(text)' is not a project ID")
                }
                return id
            }
            try await database.withStores { [query] stores in
                var position: AuditPosition?
                repeat {
                    let page = try await stores.auditLog.page(query, of: project, after: position, size: size)
                    position = page.next
                    guard try body(page.changes) else { return }
                } while position != nil
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List entries, newest first.")
        @OptionGroup var options: Options
        @Option(help: "The maximum number, at least 1.") var limit = 50
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            guard limit > 0 else { throw CommandFailure.usage("--limit must be at least 1") }
            var found: [RecordedChange] = []
            try await options.forEachPage(min(limit, 1000)) { page in
                found += page.prefix(limit - found.count)
                return found.count < limit
            }
            let rows = found.map { entry in
                [
                    entry.recordedAt.ISO8601Format(), entry.action, entry.actor, entry.tenant.rawValue,
                    entry.account?.rawValue ?? "",
                    entry.provider?.rawValue ?? "", entry.resource ?? "", entry.changes.joined(separator: ","),
                    entry.addressPrefix ?? "", entry.operation ?? "", entry.reason ?? "",
                ]
            }
            let header = [
                "RECORDED AT", "ACTION", "ACTOR", "TENANT", "ACCOUNT", "PROVIDER", "RESOURCE", "CHANGES", "ADDRESS",
                "OPERATION", "REASON",
            ]
            print(Table(header, rows).text(json: json))
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all entries, one JSON object per line, newest first."
        )
        @OptionGroup var options: Options

        func run() async throws {
            try await options.forEachPage(1000) { page in
                let lines = page.map { entry in
                    var json = JSONWriter()
                    json.object { $0.auditEntry(entry) }
                    return json.text + "\n"
                }
                try FileHandle.standardOutput.write(contentsOf: Data(lines.joined().utf8))
                return true
            }
        }
    }
}
