import Administration
import Domain
import Foundation
import HTTPTypes
import Projects
import Storage

/// A project's API keys, its service accounts' keys, its workloads and its applications.
extension ConsoleRoutes {
    var accessRoutes: [Route] {
        [
            page("/console/{project}/access", isInTenants: false, showAccess),
            action("/console/{project}/access", isInTenants: false, isGrave: { _ in true }, changeAccess),
        ]
    }

    /// The actions of the page's forms.
    private enum AccessAction: String {
        case createKey, revokeKey, revokeServiceAccount, revokeWorkload, deleteClient
    }

    @Sendable private func showAccess(_ visit: ConsoleVisit) async throws -> ConsolePage {
        let place = try place(visit, .manageConfiguration)
        var page = try await accessPage(visit, place)
        page.notice = Notice.text(for: visit)
        return page
    }

    private func accessPage(_ visit: ConsoleVisit, _ place: ConsolePlace) async throws -> ConsolePage {
        let path = "\(place.path)/access"
        func revoking(
            _ action: AccessAction,
            _ key: String,
            _ explanation: String,
            _ word: String = "Revoke"
        ) -> HTML {
            """
            <details><summary>\(word)</summary>
            <form method="post" action="\(path)">
            <p>\(explanation)</p>
            \(html: visit.token)<input type="hidden" name="do" value="\(action.rawValue)">\
            <input type="hidden" name="key" value="\(key)">
            \(html: ConsoleProvider.reasonField)
            <button class="danger">\(word) permanently</button>
            </form></details>
            """
        }
        let keys = try await administration.apiKeys.list(of: place.project.id).map { listed -> [HTML] in
            let revoked = listed.revokedAt.map { "revoked \(html: ConsoleText.time($0))" as HTML }
            return [
                "<code>\(listed.key.rawValue)</code>", "<bdi>\(listed.displayName ?? "")</bdi>",
                ConsoleText.time(listed.createdAt),
                revoked ?? revoking(.revokeKey, listed.key.rawValue, "Apps can no longer use this key."),
            ]
        }
        let backEnds = try await administration.serviceAccounts.list(of: place.project.id).map { listed -> [HTML] in
            let key = listed.credential
            let scopes = key.scopes.map(\.rawValue).sorted().joined(separator: ", ")
            let end = key.expiresAt.map { Date(timeIntervalSince1970: Double($0)) }
            let last: HTML =
                key.disabled
                ? "revoked"
                : revoking(.revokeServiceAccount, key.id, "Back ends can no longer use this key.")
            return [
                "<code>\(key.id)</code><br>\(key.email)", "\(scopes)", ConsoleText.time(listed.createdAt),
                listed.lastUsedAt.map { ConsoleText.time($0) } ?? "never",
                end.map { ConsoleText.time($0) } ?? "never", last,
            ]
        }
        let apiKeys = ConsoleText.section(
            "api-keys",
            "API keys",
            ConsoleText.table("API keys", ["Key", "Name", "Created", ""], keys),
            else: "No API keys. Apps cannot access the project without one."
        )
        let creating: HTML = """
            <form class="narrow" method="post" action="\(path)">
            \(html: visit.token)<input type="hidden" name="do" value="createKey">
            <label for="name">Name of the new API key (optional)</label>
            <input id="name" name="name" maxlength="128" autocomplete="off">
            <button>Create API key</button>
            </form>
            """
        let table = ConsoleText.table(
            "Service accounts",
            ["Key", "Scopes", "Created", "Last used", "Expires", ""],
            backEnds
        )
        let backEndKeys = ConsoleText.section(
            "service-accounts",
            "Service accounts",
            table,
            else:
                "No service accounts. <code>identity service-accounts create</code> prints the file that an Admin SDK loads. The private key is not stored anywhere else."
        )
        let workloads = try await workloads(of: place.project.id) { id in
            revoking(.revokeWorkload, id, "It can no longer use this service, and its access tokens end immediately.")
        }
        let applications = try await applications(of: place.project) { id in
            revoking(
                .deleteClient,
                id,
                "It can no longer sign users in, and everything that they granted it ends immediately.",
                "Delete"
            )
        }
        return ConsolePage(
            "API keys and service accounts",
            "\(html: [apiKeys, creating, backEndKeys, workloads, applications])",
            visit: visit,
            place: place,
            part: .access
        )
    }

    @Sendable private func changeAccess(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        let place = try place(visit, .manageConfiguration)
        let key = try form.value("key")
        let project = place.project.id
        do {
            switch AccessAction(rawValue: try form.value("do")) {
            case .createKey:
                let name = String(WireError.line(try form.value("name")).prefix(128))
                _ = try await administration.apiKeys.create(for: project, name: name.isEmpty ? nil : name)
                return .done("\(place.path)/access", .made)
            case .revokeKey: try await administration.apiKeys.revoke(APIKey(rawValue: key), of: project)
            case .revokeServiceAccount: try await administration.serviceAccounts.revoke(key, of: project)
            case .revokeWorkload: try await administration.workloads.revoke(key, of: project)
            case .deleteClient:
                try await administration.oauthClients.delete(key, of: project)
                return .done("\(place.path)/access", .applicationDeleted)
            case nil: throw WireError.invalidRequest("Unknown action.", field: "do")
            }
            return .done("\(place.path)/access", .revoked)
        } catch ConfigurationError.notFound {
            var page = try await accessPage(visit, place)
            page.status = .conflict
            page.alert = "<p>Nothing was changed: this key does not exist or is already revoked.</p>"
            throw RefusedPage(cause: ConfigurationError.notFound, response: page.response())
        }
    }
}
