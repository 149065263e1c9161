import Accounts
import ArgumentParser
import Domain
import Foundation
import IdentityService
import Outbound
import Projects
import Secrets
import Storage

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report errors and warnings in the projects' configuration.",
        discussion: """
            Prints one line for each finding; docs/reference/configuration.md lists them by ID. Exits with 1 if one is an \
            error, otherwise with 0. Changes nothing and does not call providers. With --url, it checks a running service \
            from the outside instead and needs no database.
            """
    )
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Check only this project.") var project: String?
    @Option(help: "The URL of a running service; with --project, also checks that project's issuer.") var url: String?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        if let url { return try await check(url) }
        let configuration = database.data == nil ? try await ServiceConfiguration.load(file: database.config) : nil
        try await database.withStores { stores in
            let check = ConfigurationCheck(
                isDevelopment: try await stores.configuration.mode() == .dev,
                allowsLoopback: configuration?.outbound.allowsLoopback ?? false,
                deployment: Deployment(publicURL: configuration?.publicURL),
                sendsMail: configuration?.mail != nil,
                knowsLeakedPasswords: configuration?.leakedPasswords != nil
            )
            let snapshot = stores.configuration.snapshot
            let projects = try project.map { [try stores.project($0)] } ?? snapshot.allProjects
            let findings = projects.flatMap { check($0, in: snapshot, at: stores.configuration.now()) }
            var rows = findings.map { finding in
                [
                    finding.project.rawValue, finding.level.rawValue, finding.id.rawValue,
                    finding.provider?.rawValue ?? "", finding.text,
                ]
            }
            rows += try await auditLog(stores, isDevelopment: check.isDevelopment)
            rows += await statistics(stores)
            let unverified = try await stores.accounts.countUnverifiedFactors()
            for project in projects {
                guard let count = unverified[project.id], !check.isDevelopment else { continue }
                let text =
                    "\(count) accounts have second factors without a verified email, as earlier releases allowed: each sign-in "
                    + "asks for them; verify the emails or remove the factors, because no import accepts such an account"
                rows.append(
                    [
                        project.id.rawValue, ConfigurationFinding.Level.warning.rawValue, "second-factor-unverified",
                        "",
                        text,
                    ]
                )
            }
            let missing = try await stores.sealed.usage().filter { !stores.keyRing.ids.contains($0.key) }
            rows += missing.sorted { $0.key < $1.key }.map { id, count in
                let text = "encryption.keys lacks \(id), but \(count) values are encrypted with it: add it again."
                return ["", ConfigurationFinding.Level.error.rawValue, "encryption-key-missing", "", text]
            }
            if let tls = configuration?.tls {
                rows += Self.certificates(tls, configuration?.tlsFolder, of: projects, now: Date())
            }
            print(Table(["PROJECT", "LEVEL", "ID", "PROVIDER", "TEXT"], rows).text(json: json))
            let errors = rows.count { $0[1] == ConfigurationFinding.Level.error.rawValue }
            guard errors == 0 else { throw CommandFailure.failed("\(errors) error\(errors == 1 ? "" : "s")") }
        }
    }

    /// Findings about the deployment, not about a project.
    private func auditLog(_ stores: Stores, isDevelopment: Bool) async throws -> [[String]] {
        var found: [(id: String, text: String)] = []
        if try await !stores.auditLog.hasMonths(at: Date()) {
            found.append(
                (
                    "audit-month-missing",
                    "entries are written to audit_log_rest: run `identity migrate`, and set database.migrationURL for the nodes"
                )
            )
        }
        if !isDevelopment, try await stores.auditLog.isChangeable() {
            found.append(
                (
                    "audit-log-changeable",
                    "the role of database.url can change and delete entries: use a role that owns no tables "
                        + "(docs/operations/production.md), and run `identity migrate`"
                )
            )
        }
        return found.map { ["", ConfigurationFinding.Level.warning.rawValue, $0.id, "", $0.text] }
    }

    private func statistics(_ stores: Stores) async -> [[String]] {
        guard await (try? database.statistics(of: stores).isPossible()) != true else { return [] }
        let text =
            "neither database.url nor database.migrationURL belongs to the owner of the tables: after many new accounts, "
            + "statements may be slow until autovacuum has analyzed the tables (docs/operations/production.md)"
        return [["", ConfigurationFinding.Level.warning.rawValue, "statistics-not-renewed", "", text]]
    }

    private static func certificates(
        _ usual: ServerTLS.Files,
        _ folder: String?,
        of projects: [Project],
        now: Date
    ) -> [[String]] {
        var rows: [[String]] = []
        func add(_ level: ConfigurationFinding.Level, _ id: String, _ text: String, project: String = "") {
            rows.append([project, level.rawValue, id, "", text])
        }
        var all = [usual]
        do throws(ServerTLS.Unusable) {
            if let folder { all += try ServerTLS.files(in: folder).sorted { $0.key < $1.key }.map(\.value) }
        } catch {
            add(.error, "certificate-unusable", "http.tls.folder: \(error)")
        }
        var names: Set<String> = []
        for files in all {
            do throws(ServerTLS.Unusable) {
                let pair = try ServerTLS.Pair(files)
                names.formUnion(pair.names)
                guard pair.expiresAt < now.addingTimeInterval(14 * 86_400) else { continue }
                let text =
                    "\(files.certificate) expires at \(pair.expiresAt.ISO8601Format()): renew it; nodes load the new one "
                    + "without a restart"
                if pair.expiresAt <= now {
                    add(.error, "certificate-expired", text)
                } else {
                    add(.warning, "certificate-expires", text)
                }
            } catch {
                add(.error, "certificate-unusable", "http.tls: \(files.certificate): \(error)")
            }
        }
        for project in projects {
            guard let url = project.settings.publicURL, url.isSecure, let host = ContinueURI(url.text)?.host,
                !ServerTLS.names(for: host).contains(where: names.contains)
            else { continue }
            add(
                .warning,
                "certificate-missing",
                "http.tls has no certificate for \(host)",
                project: project.id.rawValue
            )
        }
        return rows
    }

    private func check(_ text: String) async throws {
        guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false, url.query == nil, url.fragment == nil, url.user == nil
        else { throw CommandFailure.usage("--url must be an absolute URL such as https://id.example.com") }
        guard let project = ProjectID(rawValue: project ?? "demo-project") else {
            throw CommandFailure.usage("--project must name a project")
        }
        let outbound = OutboundClient(policy: AddressPolicy(allowsLoopback: true, allowsPrivateNetworks: true))
        let check = RunningServiceCheck(
            url: PublicURL(text),
            project: project,
            http: outbound
        )
        let findings = await check()
        await outbound.shutdown()
        let rows = findings.map { [$0.id.level, $0.id.rawValue, $0.text] }
        print(Table(["LEVEL", "ID", "TEXT"], rows).text(json: json))
        let errors = findings.count { $0.id.level == "error" }
        guard errors == 0 else { throw CommandFailure.failed("\(errors) error\(errors == 1 ? "" : "s")") }
    }
}
