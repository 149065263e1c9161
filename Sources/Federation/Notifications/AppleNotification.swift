import Domain
import Foundation
import Projects
import StrictJSON

extension FederationService {
    /// Apple's server-to-server notification ("Processing changes for Sign in with Apple accounts"): `{"payload": JWT}`,
    /// whose claim `events` is a JSON object as text.
    func appleEvents(
        in notification: ProviderNotification,
        of provider: ResolvedProvider,
        _ configuration: ProviderConfiguration
    ) async throws(FederationError) -> ReceivedNotification {
        guard let payload = (try? JSONValue(sent: notification.body))?.object?["payload"]?.string else {
            throw .invalidNotification(.malformed)
        }
        let claims = try await verifySecurityEvent(
            payload,
            of: provider,
            issuers: provider.definition.issuers,
            configuration: configuration,
            expires: true
        )
        let id = try Self.identifier(claims["jti"])
        // A JSON object as text, according to Apple's documentation; the object itself is accepted too.
        let text = claims["events"]?.string.flatMap { try? JSONValue(sent: $0.utf8) }
        guard let event = (text ?? claims["events"])?.object, let type = event["type"]?.string else {
            throw .invalidNotification(.malformed)
        }
        let subject = try Self.identifier(event["sub"])
        let kind: ProviderEvent.Kind
        switch type {
        case "consent-revoked": kind = .consentRevoked
        case "account-delete", "account-deleted": kind = .accountDeleted
        case "email-disabled": kind = .forwardingStopped
        case "email-enabled": kind = .forwardingResumed
        default: return ReceivedNotification(events: [], answer: .done)
        }
        let issuedAt = Double(claims["iat"]?.numericDate ?? seconds)
        let occurredAt = event["event_time"]?.wholeNumber.map { Double($0) / 1000 } ?? issuedAt
        return ReceivedNotification(
            events: [
                ProviderEvent(
                    provider: configuration.provider,
                    id: id,
                    kind: kind,
                    subject: subject,
                    occurredAt: Date(timeIntervalSince1970: min(max(occurredAt, 0), issuedAt))
                )
            ],
            answer: .done
        )
    }
}
