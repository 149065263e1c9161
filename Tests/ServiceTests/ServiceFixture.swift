import Accounts
import Development
import Domain
import Federation
import Foundation
import IdentityService
import InMemoryLogging
import Logging
import Outbound
import Passwords
import Postgres
import Projects
import Secrets
import Storage
import TestKit

/// The whole service over a database that nobody answers for: enough for everything that happens before a statement.
struct ServiceFixture: Sendable {
    static let key = "AIzaSyA0000000000000000000000000000000000"
    static let adminToken = "idk_all_0123456789"

    let clock = SteppableClock(Date(timeIntervalSince1970: 1_800_000_000))
    let log = InMemoryLogHandler()
    let admins = FakeAdmins()
    let assembly: ServiceAssembly
    let client: ServiceClient

    static let project: Project = {
        guard let id = ProjectID(rawValue: "demo-project") else { preconditionFailure("a valid id") }
        var settings = ProjectSettings()
        settings.rateLimits.isEnabled = false
        return Project(
            id: id,
            number: ProjectNumber(rawValue: 123_456_789_012),
            settings: settings,
            passwordSignerKey: Secret(Data(repeating: 7, count: 64).base64EncodedString())
        )
    }()

    init(
        additionalRoutes: [Route] = [],
        development: Bool = false,
        limits: ServiceResponder.Limits = .patient,
        document: OpenAPIDocument? = nil,
        peerAddress: String? = "203.0.113.7"
    ) throws {
        let logger = Logger(label: "service", factory: { [log] _ in log })
        let now = clock.now
        let stores = Stores(
            database: PostgresClient(
                .init(conninfo: "host=127.0.0.1 port=1 dbname=none", connections: 1),
                logger: Logger(label: "postgres", factory: { _ in SwiftLogNoOpLogHandler() })
            ),
            keyRing: try KeyRing(keys: [KeyRing.Key(id: "test", bytes: Array(repeating: 1, count: 32))]),
            logger: logger,
            now: now
        )
        var options = ServiceAssembly.Options()
        options.projectForKey = { $0.rawValue == Self.key ? Self.project : nil }
        options.projectNamed = { $0 == Self.project.id ? Self.project : nil }
        options.admins = { [admins] _ in admins }
        options.additionalRoutes = { accounts in
            additionalRoutes + (development ? DevelopmentMode.routes(stores, project: Self.project.id, accounts) : [])
        }
        if development { options.routesOverRoutes = { EmulatorDescription(of: $0).routes } }
        options.limits = limits
        let accounts = AccountsService(
            stores: stores,
            federation: FederationService(http: OutboundClient(allowsLoopback: false), now: now),
            passwords: PasswordHasher(workers: 1, queueLimit: 1),
            deployment: Deployment(publicURL: nil),
            now: now
        )
        assembly = ServiceAssembly(accounts, options, logger: logger)
        client = ServiceClient(
            assembly.responder,
            document: try document ?? OpenAPIDocument.ofRepository(),
            peerAddress: peerAddress
        )
    }
}

/// Admin credentials by their tokens.
struct FakeAdmins: AdminAuthenticator {
    struct Unreachable: Error {}

    func credential(for token: Secret) async throws -> AdminCredential? {
        switch token.reveal() {
        case ServiceFixture.adminToken:
            AdminCredential(id: "all", name: "all", project: nil, scopes: Set(AdminScope.allCases))
        case "idk_reader":
            AdminCredential(id: "reader", name: "reader", project: ServiceFixture.project.id, scopes: [.readAccounts])
        case "idk_other":
            AdminCredential(
                id: "other",
                name: "other",
                project: ProjectID(rawValue: "other-project"),
                scopes: Set(AdminScope.allCases)
            )
        case "idk_disabled":
            AdminCredential(id: "disabled", name: "x", project: nil, scopes: [.readAccounts], disabled: true)
        case "idk_expired":
            AdminCredential(
                id: "expired",
                name: "x",
                project: nil,
                scopes: Set(AdminScope.allCases),
                expiresAt: 1_800_000_000
            )
        case "idk_broken": throw Unreachable()
        default: nil
        }
    }
}
