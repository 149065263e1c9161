package import HTTPTypes
package import Logging
package import NIOCore
import StrictJSON
import Synchronization
package import Text

/// A complete request, before anything in it is verified.
///
/// A class, because many steps hold it, and copying a struct would retain each of its parts.
package final class Call: Sendable {
    package let method: HTTPRequest.Method
    /// As received, percent-encoded.
    package let path: String
    /// The captures of the route's path, decoded.
    package let parameters: [String: String]
    package let query: FormFields
    /// ``query`` as received.
    package let rawQuery: String
    package let headers: HTTPFields
    /// At most ``Route/bodyLimit`` bytes.
    package let body: ByteBuffer
    package let device: Device
    /// See ``Accounts/Caller/longestIDToken``.
    let longestIDToken: Int?
    package let logger: Logger
    /// The result of ``json()``.
    private let content = Mutex<WireObject?>(nil)

    /// The apparent caller.
    package struct Device: Sendable {
        /// At most 256 characters, without control characters.
        package var userAgent: String?
        /// /24 of IPv4, /64 of IPv6.
        package var addressPrefix: String?
        package var address: String?
        /// The address that rate limits count by: an IPv4 address, a /64 of IPv6.
        package var subscriber: String?
        /// The /48 of an IPv6 address; nil for IPv4.
        package var site: String?

        package init(
            userAgent: String? = nil,
            addressPrefix: String? = nil,
            address: String? = nil,
            subscriber: String? = nil,
            site: String? = nil
        ) {
            self.userAgent = userAgent
            self.addressPrefix = addressPrefix
            self.address = address
            self.subscriber = subscriber
            self.site = site
        }
    }

    package init(
        method: HTTPRequest.Method,
        path: String = "",
        parameters: [String: String] = [:],
        query: FormFields = FormFields(),
        rawQuery: String = "",
        headers: HTTPFields = [:],
        body: ByteBuffer = ByteBuffer(),
        device: Device = Device(),
        longestIDToken: Int? = nil,
        logger: Logger
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.query = query
        self.rawQuery = rawQuery
        self.headers = headers
        self.body = body
        self.device = device
        self.longestIDToken = longestIDToken
        self.logger = logger
    }

    /// A capture of the route's path.
    package func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The `Host` header: the host that the caller believes it is talking to.
    package var host: String? { headers[.hostField] }

    /// `X-Firebase-Locale` if it looks like a language tag (BCP 47): the language of emails.
    package var language: String? { headers[.firebaseLocale].flatMap { Self.isLanguage($0) ? $0 : nil } }

    /// `X-Goog-Request-Reason`: the admin's reason, for the audit log; at most 256 characters.
    var reason: String? { headers[.requestReason].map { String(WireError.line($0).prefix(256)) } }

    static func isLanguage(_ text: String) -> Bool {
        (2...35).contains(text.utf8.count) && text.consists(of: .alphanumerics + "-")
    }

    /// The body as JSON, whatever its content type; an empty body is an empty object, and a form its equivalent.
    ///
    /// It is parsed once.
    package func json() throws(WireError) -> WireObject {
        if let content = content.withLock({ $0 }) { return content }
        let object = try readJSON()
        content.withLock { $0 = object }
        return object
    }

    private func readJSON() throws(WireError) -> WireObject {
        guard body.readableBytes > 0 else { return WireObject() }
        // Python's `requests.post(url, data=…)` sends a form, which Google's front end takes. Much JSON is called a form.
        if isCalledForm, !looksLikeJSON { return try readForm() }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: body.readableBytesView, depth: 32) } catch {
            throw WireError(error)
        }
        return try WireObject(value)
    }

    /// The body as a form or as JSON, by its content type; without one, by its first character.
    package func formOrJSON() throws(WireError) -> WireObject {
        let isForm = isCalledForm || (headers[.contentType] ?? "").isEmpty && !looksLikeJSON
        return try isForm ? readForm() : json()
    }

    private var isCalledForm: Bool {
        headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }

    private var looksLikeJSON: Bool {
        let spaces = [" ", "\t", "\r", "\n"].map { UInt8(ascii: $0) }
        return body.readableBytesView.first { !spaces.contains($0) }.map { [0x7b, 0x5b, 0x22].contains($0) } ?? false
    }

    private func readForm() throws(WireError) -> WireObject {
        guard let form = FormFields(strict: body.readableBytesView) else {
            throw .invalidRequest("Invalid form payload received.", field: nil)
        }
        return try form.object()
    }
}
