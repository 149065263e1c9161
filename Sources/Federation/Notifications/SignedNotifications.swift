import Crypto
import Domain
import Foundation
import Projects
import Secrets
import StrictJSON
import Text

// Notifications signed with a secret or key that the app shares with the provider.

extension FederationService {
    /// Facebook's deauthorize and data-deletion callbacks: `signed_request` in a form, signed over its encoded payload with
    /// the app secret.
    func facebookEvents(
        in notification: ProviderNotification,
        _ configuration: ProviderConfiguration
    ) throws(FederationError) -> ReceivedNotification {
        guard let secret = configuration.clientSecret, !secret.isEmpty else { throw .notificationsNotSupported }
        let fields = FormFields(String(decoding: notification.body, as: UTF8.self))
        let requests = fields.pairs.filter { $0.name == "signed_request" }
        guard requests.count == 1 else { throw .invalidNotification(.malformed) }
        let parts = requests[0].value
            .split(separator: ".", omittingEmptySubsequences: false).map { $0.prefix { $0 != "=" } }
        guard parts.count == 2, let signature = Base64URL.decode(parts[0]), let bytes = Base64URL.decode(parts[1]),
            let payload = (try? JSONValue(sent: bytes))?.object
        else { throw .invalidNotification(.malformed) }
        guard payload["algorithm"]?.string?.uppercased() == "HMAC-SHA256",
            Self.isValid(signature, over: Array(parts[1].utf8), secret)
        else { throw .signatureInvalid(.signature) }
        let subject = try Self.identifier(payload["user_id"])
        guard subject != "0" else { throw .invalidNotification(.malformed) }
        // Facebook's SDK gives browsers similarly signed values at sign-in; those are not notifications.
        guard payload["code"] == nil, payload["oauth_token"] == nil else { throw .invalidNotification(.malformed) }
        guard let issuedAt = payload["issued_at"]?.numericDate, issuedAt <= seconds + IDTokenExpectation.skew,
            seconds - issuedAt <= 86_400
        else { throw .invalidNotification(.time) }
        // A repeated request has the same code; it cannot be guessed without the signature.
        let code = SecureHash.sha256(Array(parts[0].utf8) + Array(parts[1].utf8)).prefix(16).map { $0 }.lowercaseHex
        let event = ProviderEvent(
            provider: configuration.provider,
            id: notification.asksForDeletion ? ProviderEvent.deletionID(code) : code,
            kind: notification.asksForDeletion ? .deletionRequested : .consentRevoked,
            subject: subject,
            occurredAt: Date(timeIntervalSince1970: Double(issuedAt))
        )
        return ReceivedNotification(
            events: [event],
            answer: notification.asksForDeletion ? .deletion(code: code) : .done
        )
    }

    /// GitHub's webhook of an app, `github_app_authorization`, signed over the body with the webhook's secret.
    func githubEvents(
        in notification: ProviderNotification,
        _ configuration: ProviderConfiguration
    ) throws(FederationError) -> ReceivedNotification {
        guard let secret = configuration.webhookSecret, !secret.isEmpty else { throw .notificationsNotSupported }
        let header = notification.headers["x-hub-signature-256"] ?? ""
        guard header.hasPrefix("sha256="), let signature = [UInt8](hexadecimal: header.dropFirst(7).utf8),
            Self.isValid(signature, over: notification.body, secret)
        else { throw .signatureInvalid(.signature) }
        guard notification.headers["x-github-event"] == "github_app_authorization" else {
            return ReceivedNotification(events: [], answer: .done)
        }
        guard let body = (try? JSONValue(sent: notification.body, allowsNUL: true)), body.object != nil else {
            throw .invalidNotification(.malformed)
        }
        guard body[path: "action"] == .string("revoked") else { return ReceivedNotification(events: [], answer: .done) }
        // Two revocations by the same user differ only in the delivery ID, which stays the same if the webhook is sent
        // again. Neither the ID nor a time is signed.
        let id = try Self.identifier(notification.headers["x-github-delivery"].map { .string($0) })
        let event = ProviderEvent(
            provider: configuration.provider,
            id: id,
            kind: .consentRevoked,
            subject: try Self.identifier(body[path: "sender.id"]),
            occurredAt: now()
        )
        return ReceivedNotification(events: [event], answer: .done)
    }

    /// Discord's webhook events, signed with Ed25519 over timestamp and body; the variable `publicKey` is the
    /// application's.
    ///
    /// Discord sends wrongly signed ones on purpose and expects 401 for them.
    func discordEvents(
        in notification: ProviderNotification,
        of provider: ResolvedProvider
    ) throws(FederationError) -> ReceivedNotification {
        guard let keyText = provider.definition.variables["publicKey"], !keyText.isEmpty else {
            throw .notificationsNotSupported
        }
        guard let keyBytes = [UInt8](hexadecimal: keyText.utf8),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: keyBytes)
        else {
            throw .misconfigured(
                InvalidDefinition(
                    member: "definition.variables.publicKey",
                    problem: "is not an Ed25519 key in hexadecimal"
                )
            )
        }
        let timestamp = notification.headers["x-signature-timestamp"] ?? ""
        guard let signature = [UInt8](hexadecimal: (notification.headers["x-signature-ed25519"] ?? "").utf8),
            let time = Int64(timestamp), key.isValidSignature(signature, for: Array(timestamp.utf8) + notification.body)
        else { throw .signatureInvalid(.signature) }
        guard abs(seconds - time) <= 600 else { throw .invalidNotification(.time) }
        let nothing = ReceivedNotification(events: [], answer: .noContent)
        guard let body = try? JSONValue(sent: notification.body, allowsNUL: true), body.object != nil else {
            throw .invalidNotification(.malformed)
        }
        guard body[path: "type"]?.integer == 1, body[path: "event.type"] == .string("APPLICATION_DEAUTHORIZED") else {
            return nothing
        }
        // Each delivery is signed again: events with the same body are the same, and the body contains the time.
        let occurredAt = body[path: "event.timestamp"]?.string.flatMap(Self.utcTime) ?? .distantFuture
        let event = ProviderEvent(
            provider: provider.definition.id,
            id: SecureHash.sha256(notification.body).prefix(16).map { $0 }.lowercaseHex,
            kind: .consentRevoked,
            subject: try Self.identifier(body[path: "event.data.user.id"]),
            occurredAt: min(occurredAt, Date(timeIntervalSince1970: Double(time)))
        )
        return ReceivedNotification(events: [event], answer: .noContent)
    }

    /// An ISO 8601 time in whole seconds, without a time zone as Discord sends it.
    private static func utcTime(_ text: String) -> Date? {
        let zone = text.dropFirst(19).drop { $0 == "." || $0.isWholeNumber }
        guard ["", "Z", "+00:00"].contains(zone) else { return nil }
        return try? Date(String(text.prefix(19)) + "Z", strategy: .iso8601)
    }

    private static func isValid(_ signature: [UInt8], over bytes: [UInt8], _ secret: Secret) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            signature,
            authenticating: bytes,
            using: SymmetricKey(data: Array(secret.reveal().utf8))
        )
    }
}
