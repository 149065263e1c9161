package import HTTPTypes

/// An error in the format of the wire; ``ErrorMapping`` creates one for every error of the domain.
package struct WireError: Error, Sendable, Hashable {
    package var status: HTTPResponse.Status
    /// `CODE` or `CODE : detail`, or a sentence; one line, without control characters.
    package private(set) var message: String
    /// `errors[0].reason` of the accounts envelope.
    package var reason = "invalid"
    /// The canonical name of the status (`google.rpc.Code`); nil for the domain errors of the accounts API, which have
    /// none.
    package var statusName: String?
    /// `error` of RFC 6749 §5.2, for the one route that uses it.
    package var oauthCode: String?
    package var details: [Detail] = []
    /// Seconds, for `Retry-After`.
    package var retryAfter: Int?
    package var allow: [HTTPRequest.Method] = []
    /// The cause, for the log only, without anything that a client sent.
    package var cause: String?

    package enum Detail: Sendable, Hashable {
        case badRequest(field: String, description: String)
        case errorInfo(reason: String, service: String)
        case localizedMessage(String)
    }

    private init(status: HTTPResponse.Status, message: String) {
        self.status = status
        self.message = message
    }

    // MARK: Domain errors

    /// A domain error, status 400: `code`, or `code : detail`.
    ///
    /// SDKs split the message at ` : ` and drop what follows a second one, so a detail never contains it.
    package init(_ code: String, _ detail: String? = nil) {
        self.init(status: .badRequest, message: detail.map { "\(code) : \(Self.line($0))" } ?? code)
    }

    /// The part before ` : `, for logs; nil for sentences.
    package var code: String? {
        let code = message.prefix { $0 == "_" || $0.isUppercase || $0.isNumber }
        return code.count > 2 && (code.endIndex == message.endIndex || message[code.endIndex...].hasPrefix(" : "))
            ? String(code) : nil
    }

    /// An error of the token endpoint, status 400 (RFC 6749 §5.2).
    package static func oauth(_ code: String, _ description: String) -> WireError {
        var error = WireError(status: .badRequest, message: line(description))
        error.oauthCode = code
        return error
    }

    // MARK: Errors of the protocol

    /// An error of the transport, not of accounts, with the name of its status.
    package static func status(
        _ status: HTTPResponse.Status,
        _ name: String,
        _ message: String,
        detail: String? = nil
    ) -> WireError {
        var error = WireError(status: status, message: detail.map { "\(message) : \(line($0))" } ?? line(message))
        error.statusName = name
        return error
    }

    /// A request that cannot be parsed: envelope C.
    package static func invalidRequest(_ message: String, field: String?) -> WireError {
        var error = status(.badRequest, "INVALID_ARGUMENT", message)
        error.details = [.badRequest(field: line(field ?? ""), description: error.message)]
        return error
    }

    package static func tooLarge(_ limit: Int) -> WireError {
        status(.contentTooLarge, "INVALID_ARGUMENT", "Request payload size exceeds the limit: \(limit) bytes.")
    }

    /// No `Host`, several, or one that is no authority (RFC 9112 §3.2).
    package static let invalidHost = status(
        .badRequest,
        "INVALID_ARGUMENT",
        "The request's Host must name one host, and may name its port."
    )

    /// RFC 9110 §15.5.15.
    package static let longTarget = status(
        .uriTooLong,
        "INVALID_ARGUMENT",
        "The request's path and query are longer than \(Request.maximumTarget) bytes."
    )

    /// A body with a content coding, all of which clients may leave out (RFC 9110 §15.5.16).
    package static let codedBody = status(
        .unsupportedMediaType,
        "INVALID_ARGUMENT",
        "The request's Content-Encoding is not supported: send the body without one."
    )

    /// Another request was faster.
    package static let changedMeanwhile = status(.conflict, "ABORTED", "It was changed in the meantime.")

    package static let notFound = status(.notFound, "NOT_FOUND", "Requested entity was not found.")

    package static let notBuilt = status(.notImplemented, "UNIMPLEMENTED", "This operation is not implemented.")

    package static let `internal` = status(.internalServerError, "INTERNAL", "INTERNAL_ERROR")

    /// The caller can try again soon.
    package static func unavailable(cause: String) -> WireError {
        var error = status(.serviceUnavailable, "UNAVAILABLE", "The service is currently unavailable.")
        error.retryAfter = 1
        error.cause = cause
        return error
    }

    package static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> WireError {
        var error = status(.methodNotAllowed, "UNIMPLEMENTED", "The method is not allowed for this path.")
        error.allow = allowed
        return error
    }

    // MARK: Text

    private static let maximumLength = 512

    /// One line of at most 512 characters without control characters and without ` : `, so that no external text can
    /// break out of a message, a header or a log line.
    package static func line(_ text: String) -> String {
        let isPlain = text.utf8.count <= maximumLength && text.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
        if isPlain, !text.contains(" : ") { return text }
        var line = String(
            String.UnicodeScalarView(
                text.unicodeScalars.lazy.prefix(maximumLength).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }
            )
        )
        while let separator = line.firstRange(of: " : ") { line.replaceSubrange(separator, with: ": ") }
        return line
    }
}

/// A domain error as the wire shows it: `"CODE"` or `"CODE : detail"`.
extension WireError: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        guard let separator = text.firstRange(of: " : ") else {
            self.init(text, nil)
            return
        }
        self.init(String(text[..<separator.lowerBound]), String(text[separator.upperBound...]))
    }
}
