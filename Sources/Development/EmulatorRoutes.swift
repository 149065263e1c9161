import Administration
import Delivery
import Domain
import Foundation
import HTTPTypes
package import IdentityService
import Projects
import Requests
package import Storage

/// The Firebase emulator's utility endpoints, without credentials: test suites wipe accounts and read codes with them.
package struct EmulatorRoutes: Sendable {
    private let stores: Stores

    package init(stores: Stores) { self.stores = stores }

    package var routes: [Route] {
        let project = "/emulator/v1/projects/{project}"
        return [
            Route(.delete, "\(project)/accounts", on: .service, errors: .status, open(deleteAccounts)),
            Route(.get, "\(project)/config", on: .service, errors: .status, isInTenants: false, open(getConfig)),
            Route(
                .patch,
                "\(project)/config",
                on: .service,
                errors: .status,
                isInTenants: false,
                open(patchConfig)
            ),
            Route(.get, "\(project)/oobCodes", on: .service, errors: .status, open(listCodes)),
            Route(
                .get,
                "\(project)/verificationCodes",
                on: .service,
                errors: .status,
                open(listVerificationCodes)
            ),
        ]
    }

    /// Handlers act as the admin `Bearer owner`, although callers send no credentials.
    private func open(_ handler: @escaping Route.Handler<Call>) -> Route.Access {
        .open { call in
            guard DevelopmentMode.isHere(call.headers) else { throw WireError.forbidden }
            return try await AuditOrigin.acting(as: .admin(OwnerAuthenticator.id)) { try await handler(call) }
        }
    }

    private func project(of call: Call) async throws -> Project {
        guard let id = ProjectID(rawValue: call.parameter("project")) else { throw WireError.notFound }
        return try await stores.configuration.ensureProject(id, settings: .development)
    }

    /// The emulator creates unknown tenants; here they must exist.
    private func scope(of call: Call) async throws -> Scope {
        let project = try await project(of: call)
        guard let name = call.parameters["tenant"] else { return project.scope }
        guard let tenant = project.tenants[TenantID(rawValue: name)] else { throw WireError.tenantNotFound }
        return tenant.project.scope
    }

    private func deleteAccounts(_ call: Call) async throws -> Response {
        try await stores.accounts.deleteAll(in: try await scope(of: call))
        return .json { _ in }
    }

    private func getConfig(_ call: Call) async throws -> Response {
        Self.config(of: try await project(of: call))
    }

    private func patchConfig(_ call: Call) async throws -> Response {
        let project = try await project(of: call)
        let changes = try Setting.changes(inEmulatorConfig: try call.json())
        return Self.config(of: try await AdministrationService(stores: stores).changeSettings(changes, of: project.id))
    }

    /// The email codes that are still valid.
    private func listCodes(_ call: Call) async throws -> Response {
        let mails = try await WaitingMail.all(in: try await scope(of: call), stores)
        return .json { json in
            json.array("oobCodes") { json in
                for mail in mails {
                    json.object { json in
                        json.member("email", mail.email.canonical)
                        json.member("requestType", mail.type.rawValue)
                        json.member("oobCode", mail.text)
                        json.member("oobLink", mail.mail.link)
                        json.member("code", mail.mail.code)
                        json.member("newEmail", mail.newEmail?.canonical)
                    }
                }
            }
        }
    }

    /// The SMS codes that are still valid.
    private func listVerificationCodes(_ call: Call) async throws -> Response {
        let found = try await WaitingSMS.all(in: try await scope(of: call), stores)
        return .json { json in
            json.array("verificationCodes") { json in
                for waiting in found {
                    json.object { json in
                        json.member("phoneNumber", waiting.sms.to)
                        json.member("sessionInfo", waiting.session)
                        json.member("code", waiting.sms.code)
                    }
                }
            }
        }
    }

    private static func config(of project: Project) -> Response {
        .json { write(project.settings, &$0) }
    }

    /// The emulator's settings, in the form its exports use.
    static func configText(of project: Project) -> String {
        var json = JSONWriter()
        json.object { write(project.settings, &$0) }
        return json.text
    }

    private static func write(_ settings: ProjectSettings, _ json: inout JSONWriter) {
        json.object("signIn") { $0.member("allowDuplicateEmails", settings.allowDuplicateEmails) }
        json.object("emailPrivacyConfig") { json in
            json.member("enableImprovedEmailPrivacy", settings.emailEnumerationProtection)
        }
    }
}

extension Setting {
    /// The changes that the emulator's config asks for, which has two settings.
    static func changes(inEmulatorConfig config: WireObject) throws -> [SettingChange] {
        let paths = ["signIn.allowDuplicateEmails", "emailPrivacyConfig.enableImprovedEmailPrivacy"]
        return try all.filter { try paths.contains($0.path) && $0.isGiven(in: config) }
            .map { try $0.change(in: config) }
    }
}
