import Delivery
import Foundation
import HTTPTypes
package import IdentityService
import Linking
import Projects
package import Storage

/// The Firebase emulator's utility endpoints, without credentials: test suites wipe accounts and read codes with them.
package struct EmulatorRoutes: Sendable {
    private let stores: Stores

    package init(stores: Stores) { self.stores = stores }

    package var routes: [Route] {
        let project = "/emulator/v1/projects/{project}"
        return [
            Route(.delete, "\(project)/accounts", on: .service, errors: .status, .open(deleteAccounts)),
            Route(.get, "\(project)/config", on: .service, errors: .status, .open(getConfig)),
            Route(.patch, "\(project)/config", on: .service, errors: .status, .open(patchConfig)),
            Route(.get, "\(project)/oobCodes", on: .service, errors: .status, .open(listCodes)),
            // Nothing sends messages yet, so there are no codes.
            Route(
                .get,
                "\(project)/verificationCodes",
                on: .service,
                errors: .status,
                .open(empty("verificationCodes"))
            ),
        ]
    }

    private func project(of call: Call) async throws -> Project {
        guard let id = ProjectID(rawValue: call.parameter("project")) else { throw WireError.notFound }
        return try await stores.configuration.ensureProject(id, settings: .development)
    }

    private func deleteAccounts(_ call: Call) async throws -> Response {
        let project = try await project(of: call)
        try await stores.accounts.deleteAll(in: Scope(project: project.id))
        return .json { _ in }
    }

    private func getConfig(_ call: Call) async throws -> Response {
        Self.config(of: try await project(of: call))
    }

    private func patchConfig(_ call: Call) async throws -> Response {
        let project = try await project(of: call)
        let body = try call.json()
        let duplicates = try body.object("signIn")?.bool("allowDuplicateEmails")
        let protection = try body.object("emailPrivacyConfig")?.bool("enableImprovedEmailPrivacy")
        return Self.config(
            of: try await stores.configuration.updateSettings(of: project.id) { settings in
                if let duplicates { settings.allowDuplicateEmails = duplicates }
                if let protection { settings.emailEnumerationProtection = protection }
            }
        )
    }

    /// The codes of mails, as long as they are good for something.
    private func listCodes(_ call: Call) async throws -> Response {
        let mails = try await WaitingMail.all(in: Scope(project: try await project(of: call).id), stores)
        return .json { json in
            json.array("oobCodes") { json in
                for mail in mails {
                    json.object { json in
                        json.member("email", mail.code.email.canonical)
                        json.member("requestType", mail.code.type.rawValue)
                        json.member("oobCode", mail.text)
                        json.member("oobLink", mail.mail.link)
                        json.member("newEmail", mail.code.newEmail?.canonical)
                    }
                }
            }
        }
    }

    private func empty(_ name: String) -> @Sendable (Call) async throws -> Response {
        { call in
            _ = try await project(of: call)
            return .json { json in json.array(name) { _ in } }
        }
    }

    private static func config(of project: Project) -> Response {
        .json { json in
            json.object("signIn") { $0.member("allowDuplicateEmails", project.settings.allowDuplicateEmails) }
            json.object("emailPrivacyConfig") { json in
                json.member("enableImprovedEmailPrivacy", project.settings.emailEnumerationProtection)
            }
        }
    }
}
