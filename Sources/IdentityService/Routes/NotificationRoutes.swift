import Accounts
import Domain
import Federation
import Foundation
import HTTPTypes
import NIOCore
import Projects
import Requests
import Storage

/// The endpoints for providers' notifications; they need no credential, because each notification's own signature
/// authenticates it.
struct NotificationRoutes {
    let accounts: AccountsService
    let projectNamed: @Sendable (String) async throws -> Project?
    let deployment: Deployment

    var routes: [Route] {
        let path = "/v1/projects/{project}/notifications/{provider}"
        return [
            Route(.post, path, errors: .status, .open { try await receive($0, asksForDeletion: false) }),
            Route(.post, path + "/deletion", errors: .status, .open { try await receive($0, asksForDeletion: true) }),
            Route(.get, path + "/deletion/{code}", errors: .status, .open(deletionPage)),
        ]
    }

    private func receive(_ call: Call, asksForDeletion: Bool) async throws -> Response {
        let provider = ProviderID(call.parameter("provider"))
        var headers: [String: String] = [:]
        for field in call.headers { headers[field.name.canonicalName] = field.value }
        let notification = ProviderNotification(
            headers: headers,
            body: Array(buffer: call.body),
            asksForDeletion: asksForDeletion
        )
        let caller: Caller
        let answer: ReceivedNotification.Answer
        do {
            caller = try await self.caller(call)
            answer = try await AuditOrigin.acting(as: .provider(provider.rawValue)) {
                try await accounts.receiveNotification(notification, from: provider, caller)
            }
        } catch {
            throw WireError(refusing: error, from: provider)
        }
        switch answer {
        case .done: return .json { _ in }
        case .accepted: return .json(.accepted) { _ in }
        case .noContent: return Response(status: .noContent)
        case .deletion(let code):
            let own = deployment.publicURL(of: caller.project)?.text ?? ""
            let page = "\(own)\(Self.path(call))/deletion/\(code)"
            return .json { json in
                json.member("url", page)
                json.member("confirmation_code", code)
            }
        }
    }

    /// For the user: the status of the request.
    private func deletionPage(_ call: Call) async throws -> Response {
        let caller = try await caller(call)
        let date = try await accounts.receiveNotification.deletionDate(
            code: call.parameter("code"),
            from: ProviderID(call.parameter("provider")),
            caller
        )
        let context = PageContext(
            language: .best(nil, accepting: call.headers[.acceptLanguage]),
            project: caller.project
        )
        let text =
            date.map { context.html(.deletionDone, ["DATE": $0.formatted(.iso8601.year().month().day())]) }
            ?? context.html(.deletionUnknown)
        var page = context.page(.deletionTitle, "<p>\(html: text)</p>")
        if date == nil { page.status = .notFound }
        return page.response()
    }

    private func caller(_ call: Call) async throws -> Caller {
        guard let project = try await projectNamed(call.parameter("project")) else { throw WireError.projectNotFound }
        guard let tenant = call.parameters["tenant"].map({ TenantID(rawValue: $0) }) else {
            return Caller(project: project)
        }
        // Notifications are accepted even if sign-in is disabled.
        guard let found = project.tenants[tenant] else { throw WireError.tenantNotFound }
        return Caller(project: found.project)
    }

    private static func path(_ call: Call) -> String {
        let tenant = call.parameter("tenant")
        return "/v1/projects/\(call.parameter("project"))" + (tenant.isEmpty ? "" : "/tenants/\(tenant)")
            + "/notifications/\(call.parameter("provider"))"
    }
}
