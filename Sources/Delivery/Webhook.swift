import Crypto
package import Foundation
import HTTPTypes
import Outbound
package import Projects

/// The body of a webhook, in the format of Standard Webhooks: an envelope with the type, the time and the data, signed.
package struct Webhook<Body: Encodable & Sendable>: Encodable, Sendable {
    package var type: WebhookType
    /// The time of the event, RFC 3339 with milliseconds: the same at each attempt.
    package var timestamp: String
    package var data: Body

    package init(_ type: WebhookType, at date: Date, _ data: Body) {
        self.type = type
        self.timestamp = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        self.data = data
    }
}

extension OutboundRequest {
    /// - Parameters:
    ///   - id: the message's ID in the outbox, the same at each attempt.
    ///   - date: of the attempt; receivers refuse old ones.
    init(webhook body: [UInt8], id: String, to endpoint: WebhookEndpoint, date: Date) {
        let seconds = String(Int64(date.timeIntervalSince1970))
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.webhookID] = id
        headers[.webhookTimestamp] = seconds
        headers[.webhookSignature] =
            endpoint.secrets.compactMap { WebhookEndpoint.key(of: $0) }
            .map { key in
                var code = HMAC<SHA256>(key: SymmetricKey(data: key))
                code.update(data: Array("\(id).\(seconds).".utf8) + body)
                return "v1,\(Data(code.finalize()).base64EncodedString())"
            }
            .joined(separator: " ")
        self.init(method: .post, url: endpoint.url, headers: headers, body: body)
        maximumResponseSize = 65_536
        sharesTraceState = true
    }
}

extension HTTPField.Name {
    fileprivate static let webhookID = named("webhook-id")
    fileprivate static let webhookTimestamp = named("webhook-timestamp")
    fileprivate static let webhookSignature = named("webhook-signature")

    /// - Parameter text: a token of RFC 9110 §5.6.2, which all of the above are.
    private static func named(_ text: String) -> Self { Self(text) ?? .xContentTypeOptions }
}
