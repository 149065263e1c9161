import Foundation
package import Secrets
import Text

/// A project's SMS provider, webhook and verifier of CAPTCHAs; they contain secrets and are stored sealed as a whole.
package struct DeliverySettings: Sendable, Hashable, Codable {
    package var sms: SMSProvider?
    package var webhook: WebhookEndpoint?
    package var captcha: CaptchaVerifier?

    package init() {}

    /// Whether SMS can be sent.
    package var carriesSMS: Bool { sms != nil || takes(.smsSend) }

    /// Whether the project's webhook receives messages of a type.
    package func takes(_ type: WebhookType) -> Bool { webhook?.types.contains(type) ?? false }
}

/// The types of webhooks.
package enum WebhookType: String, Sendable, Hashable, Codable, CaseIterable {
    /// An email for the endpoint to send.
    case mailSend = "mail.send"
    /// An SMS for the endpoint to send.
    case smsSend = "sms.send"
    case accountCreated = "account.created"
    /// The account's public data, its password or its sessions changed.
    case accountUpdated = "account.updated"
    case accountDeleted = "account.deleted"
    /// An account was merged into another one.
    case accountMerged = "account.merged"
    /// A merge was undone: both accounts exist again.
    case accountMergeUndone = "account.mergeUndone"
    /// A user let an application sign in.
    case grantCreated = "grant.created"
    /// The session that the application had has ended, whatever ended it.
    case grantEnded = "grant.ended"
}

/// The project's endpoint for signed webhooks.
package struct WebhookEndpoint: Sendable, Hashable, Codable {
    package var url: String
    package var types: [WebhookType]
    /// Each signs; the key is the base64 text after `whsec_`.
    package var secrets: [Secret]

    package init(url: String, types: [WebhookType], secrets: [Secret]) {
        self.url = url
        self.types = types
        self.secrets = secrets
    }

    /// The key of a secret such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`, 24 to 64 bytes.
    package static func key(of secret: Secret) -> [UInt8]? {
        let text = secret.reveal()
        guard text.hasPrefix("whsec_"), let key = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(key.count)
        else { return nil }
        return [UInt8](key)
    }
}

/// An HTTP API that sends SMS, as data: the request, and the place of the message in it.
package struct SMSProvider: Sendable, Hashable, Codable {
    package enum Method: String, Sendable, Hashable, Codable, CaseIterable {
        case post = "POST"
        case put = "PUT"
    }

    /// The format of ``body``, which determines how values are escaped.
    package enum Format: String, Sendable, Hashable, Codable, CaseIterable {
        case form = "FORM"
        case json = "JSON"

        package var contentType: String {
            switch self {
            case .form: "application/x-www-form-urlencoded"
            case .json: "application/json"
            }
        }
    }

    package enum Authorization: String, Sendable, Hashable, Codable, CaseIterable {
        case none = "NONE"
        /// With ``user`` and ``secret``.
        case basic = "BASIC"
        /// With ``secret``.
        case bearer = "BEARER"
    }

    package var url: String
    package var method = Method.post
    /// Additional headers, which may contain `%SECRET%` and `%ID%`.
    package var headers: [String: String] = [:]
    /// With placeholders: `%TO%`, `%TEXT%`, `%CODE%`, `%APP_NAME%`, `%ID%`, `%SECRET%`.
    package var body: String
    package var format = Format.form
    package var authorization = Authorization.none
    package var user: String?
    package var secret: Secret?

    package init(url: String, body: String) {
        self.url = url
        self.body = body
    }
}

extension DeliverySettings {
    /// https with a host, without credentials and fragment; http only for this machine, which a node calls only if
    /// `outbound.allow` permits it.
    package static func isAcceptable(url text: String) -> Bool {
        text.utf8.count <= 2048 && URLParts(text)?.isSecure(orLoopback: true) ?? false
    }
}
