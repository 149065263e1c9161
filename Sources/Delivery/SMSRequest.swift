import Foundation
import HTTPTypes
import Outbound
import Projects
import Secrets
import Text

extension OutboundRequest {
    /// The request to a provider that sends an SMS, from its configuration; nil if none can be built.
    ///
    /// - Parameter id: the message's ID in the outbox, the same at each attempt.
    init?(_ sms: SMS, id: String, by provider: SMSProvider, of project: Project) {
        let secret = provider.secret?.reveal() ?? ""
        var headers: HTTPFields = [.contentType: provider.format.contentType]
        for (name, value) in provider.headers {
            guard let name = HTTPField.Name(name) else { return nil }
            headers[name] = Self.fill(value, ["%SECRET%": secret, "%ID%": id]) { $0 }
        }
        switch provider.authorization {
        case .none: break
        case .basic:
            let credentials = Data("\(provider.user ?? ""):\(secret)".utf8).base64EncodedString()
            headers[.authorization] = "Basic \(credentials)"
        case .bearer: headers[.authorization] = "Bearer \(secret)"
        }
        let values = [
            "%TO%": sms.to, "%TEXT%": sms.text(of: project), "%CODE%": sms.code, "%ID%": id, "%SECRET%": secret,
            "%APP_NAME%": project.appName,
        ]
        let body = Self.fill(provider.body, values) { provider.format.escape($0) }
        let method: HTTPRequest.Method =
            switch provider.method {
            case .post: .post
            case .put: .put
            }
        self.init(method: method, url: provider.url, headers: headers, body: Array(body.utf8))
        maximumResponseSize = 65_536
    }

    /// In one pass, so that a value is never read as a placeholder.
    private static func fill(
        _ text: String,
        _ values: [String: String],
        _ escape: (String) -> String
    ) -> String {
        text.replacing(/%[A-Z_]+%/) { match in
            let name = String(match.output)
            return values[name].map(escape) ?? name
        }
    }
}

extension SMSProvider.Format {
    /// A value escaped for the body: percent-encoded, or for a JSON string.
    fileprivate func escape(_ text: String) -> String {
        switch self {
        case .form: PercentEncoding.encode(text)
        case .json:
            (try? JSONEncoder().encode(text)).map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? ""
        }
    }
}
