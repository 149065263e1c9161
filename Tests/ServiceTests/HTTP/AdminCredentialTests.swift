import Foundation
import Postgres
import Projects
import Secrets
import Storage
import StrictJSON
import TestKit
import Testing

/// Every operation of openapi.yaml that takes an admin's credential, with every credential that is none for it; an
/// operation is among them from the day that it is described.
@Suite("Admin operations and their credentials", .database)
struct AdminCredentialTests {
    private struct Operation {
        var name: String
        var method: String
        var path: String
        /// Those of v3 have the project in the body.
        var body: String
        var scope: AdminScope
        /// Apps have the same path with an API key.
        var isOfApps: Bool
    }

    /// The operations of a project, in the project itself and, where they are there, in a tenant of it.
    private static func operations(_ project: ProjectID, _ tenant: String) throws -> [Operation] {
        let document = try OpenAPIDocument.ofRepository()
        return try document.operations.sorted { $0.description < $1.description }.flatMap { operation -> [Operation] in
            let description = document.description(of: operation)
            let schemes = (description?["security"]?.elements ?? []).flatMap(\.members).map(\.name)
            guard schemes.contains("bearer") else { return [] }
            let isOfApps = schemes.contains("apiKey")
            // An admin signs nobody up: it creates.
            let path = operation.path.replacing("/v1/", with: "/v1/projects/{project}/").replacing(":signUp", with: "")
            let adminForm = OpenAPIDocument.Operation(method: operation.method, path: path)
            let described = isOfApps ? document.description(of: adminForm) : description
            // What only apps do has no scope: with a key the credential is not looked at.
            let says = description?["description"]?.text ?? ""
            guard !isOfApps || says.contains("same as the admin operation") else { return [] }
            let scope = try #require(described?["x-scope"]?.text.flatMap(AdminScope.init(rawValue:)), "\(operation)")
            let ofProject = "projects/{project}"
            let inTenant = operation.path.replacing(ofProject, with: "\(ofProject)/tenants/\(tenant)")
            let hasTenants = operation.path.contains(ofProject) && !operation.path.contains("/tenants")
            return ([operation.path] + (hasTenants ? [inTenant] : [])).map { path in
                Operation(
                    name: "\(operation.method) \(path)",
                    method: operation.method,
                    path: path.replacing("{project}", with: project.rawValue).replacing("{tenant}", with: tenant)
                        .replacing(/\{[a-z]+\}/, with: "oidc.acme"),
                    body: #"{"targetProjectId":"\#(project)"}"#,
                    scope: scope,
                    isOfApps: isOfApps
                )
            }
        }
    }

    private enum Credential {
        case none
        case key(String)
        case bearer(String)
    }

    private func status(_ operation: Operation, _ credential: Credential, _ service: TestService) async throws -> Int {
        var path = operation.path + (operation.isOfApps ? "?key=\(service.apiKey)" : "")
        var headers = [("Content-Type", "application/json")]
        switch credential {
        case .none: break
        case .key(let key): path += "?key=\(key)"
        case .bearer(let token): headers.append(("Authorization", "Bearer \(token)"))
        }
        let body = operation.method == "GET" ? nil : Array(operation.body.utf8)
        return try await service.send(operation.method, path, headers: headers, body: body).status
    }

    /// A service account's access token.
    private func accessToken(_ account: TestServiceAccount, _ service: TestService) async throws -> String {
        let now = Double(service.clock.seconds)
        let payload: [String: JSON] = [
            "iss": .string(account.key.email), "aud": "https://oauth2.googleapis.com/token", "iat": .number(now),
            "exp": .number(now + 3600), "scope": "https://www.googleapis.com/auth/cloud-platform",
        ]
        let body: JSON = [
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": .string(try account.sign(payload)),
        ]
        let reply = try await service.post("/token", text: body.text)
        return try #require(reply["access_token"]?.string, "\(reply)")
    }

    private static let all = Set(AdminScope.allCases)

    private static var options: TestService.Options {
        var options = TestService.Options()
        options.settings.allowsTenants = true
        return options
    }

    @Test("T-D13: every admin operation refuses callers without the right credential, and changes nothing")
    func refuses() async throws {
        try await TestService.run(Self.options) { service in
            let configuration = service.stores.configuration
            let tenant = try await service.makeTenant("first", ["allowPasswordSignup": true])
            let user = try await service.signUp("ada@example.com")
            let tenantUser = try await service.call(
                "accounts:signUp",
                ["email": "ada@example.com", "password": "correct horse", "tenantId": .string(tenant)]
            )
            let cookie = try await service.admin(
                ":createSessionCookie",
                ["idToken": JSON(user.idToken), "validDuration": "3600"]
            )
            let other = try #require(ProjectID(rawValue: "other-\(service.project.id.rawValue.suffix(12))"))
            _ = try await configuration.createProject(other, settings: ProjectSettings())
            func adminKey(
                _ project: ProjectID?,
                _ scopes: Set<AdminScope>,
                expiresAt: Date? = nil
            ) async throws -> (String, String) {
                let made = try await configuration.createAdminCredential(
                    name: "matrix",
                    project: project,
                    scopes: scopes,
                    expiresAt: expiresAt
                )
                return (made.credential.id, made.token.reveal())
            }
            func account(
                _ project: ProjectID,
                _ scopes: Set<AdminScope>,
                expiresAt: Int64? = nil
            ) async throws -> TestServiceAccount {
                try await .register(
                    in: project,
                    name: "sdk-\(scopes.count)",
                    scopes: scopes,
                    expiresAt: expiresAt,
                    configuration
                )
            }
            let now = service.clock
            let revokedKey = try await adminKey(nil, Self.all)
            try await configuration.revoke(AdminCredential.self, revokedKey.0)
            let revoked = try await account(service.project.id, Self.all)
            let revokedToken = try await accessToken(revoked, service)
            try await configuration.revoke(ServiceAccountKey.self, revoked.key.id)
            let expiring = try await account(service.project.id, Self.all, expiresAt: now.seconds + 1)
            let expiringToken = try await accessToken(expiring, service)
            let strange = try await account(other, Self.all)
            let strangeToken = try await accessToken(strange, service)
            let expiredKey = try await adminKey(nil, Self.all, expiresAt: now.current.addingTimeInterval(1))
            let foreignKey = try await adminKey(other, Self.all)
            // A token of before.
            let account = try await account(service.project.id, Self.all)
            now.advance(by: -3600)
            let oldToken = try await accessToken(account, service)
            now.advance(by: 3601)
            var without: [AdminScope: [Credential]] = [:]
            for scope in AdminScope.allCases {
                let rest = Self.all.subtracting([scope])
                let account = try await TestServiceAccount.register(
                    in: service.project.id,
                    name: "without-\(scope.rawValue.count)",
                    scopes: rest,
                    configuration
                )
                without[scope] = [
                    .bearer(try await accessToken(account, service)), .bearer(try await adminKey(nil, rest).1),
                ]
            }

            let nobody: [(name: String, credential: Credential)] = [
                ("nothing", .none), ("an API key", .key(service.apiKey)),
            ]
            let unknown: [(name: String, credential: Credential)] = [
                ("an API key as a bearer", .bearer(service.apiKey)), ("the emulator's owner", .bearer("owner")),
                ("an end user's ID token", .bearer(user.idToken ?? "")),
                ("an ID token of the tenant", .bearer(tenantUser.idToken ?? "")),
                ("an end user's refresh token", .bearer(user.refreshToken ?? "")),
                ("a session cookie", .bearer(cookie["sessionCookie"]?.string ?? "")),
                (
                    "a service account's own assertion",
                    .bearer(try account.sign(account.payload(uid: "ada", at: now.seconds)))
                ),
                ("a revoked admin key", .bearer(revokedKey.1)), ("an expired admin key", .bearer(expiredKey.1)),
                ("a token of a revoked service account", .bearer(revokedToken)),
                ("a token of an expired service account", .bearer(expiringToken)),
                ("an expired token", .bearer(oldToken)),
            ]
            let foreign: [(name: String, credential: Credential)] = [
                ("an admin key of another project", .bearer(foreignKey.1)),
                ("a token of another project's service account", .bearer(strangeToken)),
            ]
            let operations = try Self.operations(service.project.id, tenant)
            let before = try await service.imprint()
            var seen = 0
            for operation in operations {
                for (name, credential) in unknown + (operation.isOfApps ? [] : nobody) {
                    let status = try await status(operation, credential, service)
                    // A path that tenants do not have is nobody's.
                    #expect(status == 401 || status == 404, "\(operation.name): \(name)")
                    if status == 401 { seen += 1 }
                }
                let refused = foreign + (without[operation.scope] ?? []).map { ("without \(operation.scope)", $0) }
                for (name, credential) in refused {
                    let status = try await status(operation, credential, service)
                    #expect(status == 403 || status == 404, "\(operation.name): \(name)")
                    if status == 403 { seen += 1 }
                }
            }
            #expect(seen > 1000, "\(seen)")
            #expect(try await service.imprint() == before)
        }
    }

    @Test("T-D13, T-B19: an admin of a project reaches no tenant of another one")
    func otherTenants() async throws {
        try await TestService.run(Self.options) { other in
            let tenant = try await other.makeTenant("other", ["allowPasswordSignup": true])
            let before = try await other.imprint()
            try await TestService.run(Self.options) { service in
                var seen = 0
                for operation in try Self.operations(service.project.id, tenant) where operation.path.contains(tenant) {
                    let status = try await status(operation, .bearer(service.adminToken), service)
                    #expect(status == 404, "\(operation.name)")
                    seen += 1
                }
                #expect(seen > 20, "\(seen)")
            }
            #expect(try await other.imprint() == before)
        }
    }

    @Test("authorized callers are admitted: 401 and 403 are about the credential")
    func letsIn() async throws {
        try await TestService.run(Self.options) { service in
            let tenant = try await service.makeTenant("first", ["allowPasswordSignup": true])
            let account = try await TestServiceAccount.register(
                in: service.project.id,
                scopes: Self.all,
                service.stores.configuration
            )
            let token = try await accessToken(account, service)
            // What deletes the tenant comes last.
            let operations = try Self.operations(service.project.id, tenant).sorted { one, _ in one.method != "DELETE" }
            for operation in operations {
                let status = try await status(operation, .bearer(token), service)
                #expect(![401, 403].contains(status), "\(operation.name)")
            }
        }
    }
}

extension TestService {
    /// What would show that somebody changed something.
    fileprivate func imprint() async throws -> [String] {
        let project = project.id.rawValue
        return try await stores.database.query(
            """
            SELECT a.account || ' ' || a.tenant || ' ' || a.version FROM accounts a WHERE a.project = \(project)
            UNION ALL SELECT 'session ' || s.session || ' ' || coalesce(s.revoked_at::text, '') FROM sessions s
                WHERE s.project = \(project)
            UNION ALL SELECT 'tenant ' || t.tenant || ' ' || coalesce(t.deleted_at::text, '') FROM tenants t
                WHERE t.project = \(project)
            UNION ALL SELECT 'project ' || p.version || ' ' || p.config::text FROM projects p WHERE p.project = \(project)
            UNION ALL SELECT 'provider ' || c.provider FROM provider_configurations c WHERE c.project = \(project)
            ORDER BY 1
            """
        ) { row in try row.next(String.self) }
    }
}
