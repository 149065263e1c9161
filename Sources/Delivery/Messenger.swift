package import Foundation
package import Outbound
package import Projects
import HTTPTypes
import Text

/// Sends messages over HTTP: signed to a project's webhook, or SMS to the project's provider.
package struct Messenger: Sendable {
    private let http: OutboundClient

    package init(through http: OutboundClient) { self.http = http }

    /// - Parameter id: the message's ID in the outbox, the same at each attempt.
    package func send(_ sms: SMS, id: String, of project: Project, date: Date) async throws(DeliveryError) {
        let settings = project.settings.delivery
        if settings.takes(.smsSend) {
            let data = SMSToSend(
                projectId: project.id.rawValue,
                phoneNumber: sms.to,
                text: sms.text(of: project),
                code: sms.code,
                locale: sms.language
            )
            let written = sms.validUntil.addingTimeInterval(-SMS.lifetime)
            try await post(Webhook(.smsSend, at: written, data), id: id, of: project, date: date)
        } else if let provider = settings.sms {
            guard let request = OutboundRequest(sms, id: id, by: provider, of: project) else { throw .notConfigured }
            // The provider cannot reach the number, and a retry would not change that.
            try await perform(request, for: project, permanent: [400, 410, 422], at: date)
        } else {
            throw .notConfigured
        }
    }

    /// - Parameter id: the message's ID in the outbox, the same at each attempt.
    package func send(_ mail: Mail, id: String, of project: Project, date: Date) async throws(DeliveryError) {
        let data = MailToSend(
            projectId: project.id.rawValue,
            template: mail.template.rawValue,
            email: mail.to,
            link: mail.link,
            appName: project.appName,
            displayName: mail.displayName,
            code: mail.code,
            newEmail: mail.newEmail,
            locale: mail.language ?? project.settings.mail.defaultLocale
        )
        try await post(Webhook(.mailSend, at: date, data), id: id, of: project, date: date)
    }

    /// - Parameter id: the message's ID in the outbox, the same at each attempt.
    package func send(_ notice: WebhookNotice, id: String, of project: Project, date: Date) async throws(DeliveryError)
    {
        try await post(Webhook(notice.type, at: notice.date, notice.data), id: id, of: project, date: date)
    }

    /// - Parameter id: the message's ID in the outbox, the same at each attempt.
    package func send(_ notice: GrantNotice, id: String, of project: Project, date: Date) async throws(DeliveryError) {
        try await post(Webhook(notice.type, at: notice.date, notice.data), id: id, of: project, date: date)
    }

    /// Tells an application that a session has ended (OpenID Connect Back-Channel Logout 1.0 §2.5).
    ///
    /// - Parameter token: the logout token.
    /// - Parameter isVouchedFor: whether an admin chose the application.
    package func send(
        logout token: String,
        to url: String,
        isVouchedFor: Bool,
        of project: Project,
        date: Date
    ) async throws(DeliveryError) {
        var request = OutboundRequest(
            method: .post,
            url: url,
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: Array(FormFields(pairs: [("logout_token", token)]).text.utf8),
            maximumResponseSize: 65_536
        )
        request.isForStranger = !isVouchedFor
        // The application does not accept the token, and would not accept the next one.
        try await perform(request, for: project, permanent: [400, 410], at: date)
    }

    private func post(
        _ webhook: Webhook<some Encodable & Sendable>,
        id: String,
        of project: Project,
        date: Date
    ) async throws(DeliveryError) {
        guard let endpoint = project.settings.delivery.webhook, endpoint.types.contains(webhook.type) else {
            throw .notConfigured
        }
        let body = try Self.encode(webhook)
        let request = OutboundRequest(webhook: body, id: id, to: endpoint, date: date)
        try await perform(request, for: project, permanent: [410], at: date)
    }

    private func perform(
        _ request: OutboundRequest,
        for project: Project,
        permanent: Set<Int>,
        at date: Date
    ) async throws(DeliveryError) {
        let response: OutboundResponse
        var request = request
        request.ignoresBody = true
        do {
            response = try await OutboundShare.with(project.id.rawValue) {
                [request] () async throws(OutboundError) -> OutboundResponse in try await http.send(request)
            }
        } catch {
            throw .unreachable(error)
        }
        guard !response.isSuccess else { return }
        throw .refused(
            status: response.status,
            isPermanent: permanent.contains(response.status),
            retryAfter: response.headers[.retryAfter].flatMap { Self.seconds($0, from: date) }
        )
    }

    /// The seconds that `Retry-After` asks for: a number, or a date (RFC 9110 §10.2.3).
    private static func seconds(_ text: String, from date: Date) -> Double? {
        if let seconds = UInt32(text) { return Double(seconds) }
        return UTCTime.seconds(httpDate: text).map { max(0, Double($0) - date.timeIntervalSince1970) }
    }

    private static func encode(_ webhook: Webhook<some Encodable & Sendable>) throws(DeliveryError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(webhook) else { throw .notConfigured }
        return Array(body)
    }
}

/// The data of `mail.send`.
private struct MailToSend: Encodable {
    var projectId: String
    var template: String
    var email: String
    var link: String
    var appName: String
    var displayName: String?
    var code: String?
    var newEmail: String?
    var locale: String?
}

/// The data of `sms.send`.
private struct SMSToSend: Encodable {
    var projectId: String
    var phoneNumber: String
    var text: String
    var code: String
    var locale: String?
}

/// Why a message was not sent; it contains nothing from the message or the response.
package enum DeliveryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The project has no recipient for it, or one that yields no valid request.
    case notConfigured
    case unreachable(OutboundError)
    /// - Parameter retryAfter: the seconds that the recipient asks to wait, if any.
    case refused(status: Int, isPermanent: Bool, retryAfter: Double? = nil)

    /// Whether a retry cannot succeed.
    package var isPermanent: Bool {
        switch self {
        case .refused(_, let isPermanent, _): isPermanent
        case .notConfigured, .unreachable: false
        }
    }

    /// The seconds until the recipient wants the next attempt.
    package var retryAfter: Double? {
        guard case .refused(_, _, let seconds) = self else { return nil }
        return seconds
    }

    package var description: String {
        switch self {
        case .notConfigured: "no recipient is configured"
        case .unreachable(let error): error.description
        case .refused(let status, _, _): "the response was \(status)"
        }
    }
}
