import HTTPTypes
import NIOCore

/// The outer format of errors, which differs between the parts of the API.
package enum ErrorEnvelope: Sendable, Hashable {
    /// v1 account operations and their v3 forms: with `errors[]`.
    case accounts
    /// Secure Token and v2: with `status`.
    case status
    /// RFC 6749 §5.2.
    case oauth
    /// An HTML page, for URLs that users open in a browser.
    case page
    /// A page with the SDKs' error codes, for URLs that SDKs open in a browser.
    case handlerPage
    /// A page of the console.
    case consolePage
    /// As ``accounts`` or ``status``, but 429 and 5xx are plain text: a JSON error of `lookup` or `token` makes web
    /// SDKs delete the signed-in user.
    indirect case plainFailures(ErrorEnvelope)

    /// For users, and not for scripts of other origins.
    var isPage: Bool {
        switch self {
        case .page, .handlerPage, .consolePage: true
        case .accounts, .status, .oauth, .plainFailures: false
        }
    }

    var listsErrors: Bool {
        switch self {
        case .accounts: true
        case .status, .oauth, .page, .handlerPage, .consolePage: false
        case .plainFailures(let envelope): envelope.listsErrors
        }
    }
}

extension WireError {
    /// - Parameter header: `Accept-Language`, which selects a page's language.
    package func response(in envelope: ErrorEnvelope, accepting header: String? = nil) -> Response {
        let context = PageContext(language: .best(nil, accepting: header))
        switch envelope {
        case .page: return context.problem(self).response()
        case .handlerPage: return HandlerPage.ended(HandlerFault(self), context).response()
        case .consolePage:
            var response = ConsolePage.problem(self, nil).response()
            response.headers[.allow] = allowHeader
            return response
        case .accounts, .status, .oauth, .plainFailures: break
        }
        var headers = HTTPFields()
        headers[.cacheControl] = "no-store"
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        headers[.allow] = allowHeader
        // RFC 9110 §12.5.3.
        if status == .unsupportedMediaType { headers[.acceptEncoding] = "identity" }
        headers[.wwwAuthenticate] = challenge
        if case .plainFailures = envelope, status == .tooManyRequests || status.kind == .serverError {
            headers[.contentType] = "text/plain; charset=utf-8"
            return Response(
                status: status,
                headers: headers,
                body: ByteBuffer(string: message + "\n")
            )
        }
        headers[.contentType] = JSONWriter.contentType
        // Firebase answers 400 where a limit is reached; applications know 429.
        let isLimit = envelope == .oauth && status == .badRequest && oauthCode == "temporarily_unavailable"
        return Response(status: isLimit ? .tooManyRequests : status, headers: headers, body: body(in: envelope))
    }

    /// RFC 9110 §11.6.1; with a cause for access tokens of applications (RFC 6750 §3).
    private var challenge: String? {
        switch oauthCode {
        case "invalid_client": "Basic realm=\"oauth\", charset=\"UTF-8\""
        case "invalid_token", "insufficient_scope": "Bearer error=\"\(oauthCode ?? "")\""
        default: status == .unauthorized ? "Bearer" : nil
        }
    }

    private var allowHeader: String? {
        allow.isEmpty ? nil : allow.map(\.rawValue).joined(separator: ", ")
    }

    private func body(in envelope: ErrorEnvelope) -> ByteBuffer {
        var json = JSONWriter()
        json.object { json in
            guard envelope != .oauth else { return writeOAuthError(to: &json) }
            json.object("error") { json in
                json.member("code", number: Int64(status.code))
                json.member("message", message)
                if envelope.listsErrors || status == .unauthorized { writeErrors(to: &json) }
                json.member("status", statusName ?? (envelope.listsErrors ? nil : "INVALID_ARGUMENT"))
                if !details.isEmpty { json.array("details") { json in details.forEach { $0.write(to: &json) } } }
            }
        }
        return json.bytes
    }

    private func writeOAuthError(to json: inout JSONWriter) {
        let isOurs = status == .tooManyRequests || status.kind == .serverError
        json.member("error", oauthCode ?? (isOurs ? "temporarily_unavailable" : "invalid_request"))
        json.member("error_description", message)
    }

    private func writeErrors(to json: inout JSONWriter) {
        json.array("errors") { json in
            json.object { json in
                json.member("message", message)
                json.member("domain", "global")
                json.member("reason", reason)
                guard status == .unauthorized else { return }
                json.member("location", "Authorization")
                json.member("locationType", "header")
            }
        }
    }
}

extension WireError.Detail {
    func write(to json: inout JSONWriter) {
        json.object { json in
            switch self {
            case .badRequest(let field, let description):
                json.member("@type", "type.googleapis.com/google.rpc.BadRequest")
                json.array("fieldViolations") { json in
                    json.object { json in
                        json.member("field", field.isEmpty ? nil : field)
                        json.member("description", description)
                    }
                }
            case .errorInfo(let reason, let service):
                json.member("@type", "type.googleapis.com/google.rpc.ErrorInfo")
                json.member("reason", reason)
                json.member("domain", "googleapis.com")
                json.object("metadata") { $0.member("service", service) }
            case .localizedMessage(let message):
                json.member("@type", "type.googleapis.com/google.rpc.LocalizedMessage")
                json.member("locale", "en-US")
                json.member("message", message)
            }
        }
    }
}
