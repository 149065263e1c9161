import Domain
import Foundation
import Projects
import StrictJSON

extension FederationService {
    /// Google's Cross-Account Protection (RISC, RFC 8417): the body is a JWT, `events` maps event URIs to subjects.
    ///
    /// Its `exp` is ignored. An event about a single token identifies no user and is ignored.
    func googleEvents(
        in notification: ProviderNotification,
        of provider: ResolvedProvider,
        _ configuration: ProviderConfiguration
    ) async throws(FederationError) -> ReceivedNotification {
        let issuers = provider.definition.issuers
        let claims = try await verifySecurityEvent(
            String(decoding: notification.body, as: UTF8.self).filter { !$0.isWhitespace },
            of: provider,
            // Google also sends the issuer with a trailing slash.
            issuers: issuers + issuers.prefix(1).map { $0 + "/" },
            configuration: configuration,
            expires: false
        )
        let id = try Self.identifier(claims["jti"])
        guard let members = claims["events"]?.object?.members, (1...16).contains(members.count) else {
            throw .invalidNotification(.malformed)
        }
        var received = ReceivedNotification(events: [], answer: .accepted)
        for (number, member) in members.enumerated() {
            guard let event = member.value.object else { throw .invalidNotification(.malformed) }
            guard let kind = Self.googleKind(member.name, reason: event["reason"]?.string),
                let subject = event["subject"]?.object, subject["subject_type"]?.string != "oauth_token"
            else { continue }
            // A subject of another issuer is another user.
            guard SafeText.isOne(subject["iss"]?.string ?? "", of: issuers + issuers.prefix(1).map { $0 + "/" }) else {
                throw .invalidNotification(.issuer)
            }
            received.events.append(
                ProviderEvent(
                    provider: configuration.provider,
                    id: number == 0 ? id : "\(id)#\(number)",
                    kind: kind,
                    subject: try Self.identifier(subject["sub"]),
                    occurredAt: Date(timeIntervalSince1970: Double(claims["iat"]?.numericDate ?? seconds))
                )
            )
        }
        return received
    }

    private static func googleKind(_ uri: String, reason: String?) -> ProviderEvent.Kind? {
        switch uri.split(separator: "/").suffix(3).joined(separator: "/") {
        case "risc/event-type/sessions-revoked": .sessionsRevoked
        case "oauth/event-type/tokens-revoked": .consentRevoked
        case "risc/event-type/account-disabled": reason == "hijacking" ? .accountHijacked : nil
        case "risc/event-type/account-enabled": .accountRestored
        case "risc/event-type/account-purged": .accountDeleted
        default: nil
        }
    }
}
