import CCurl
import Secrets

/// One connection to a server, for one email; blocks.
struct Conversation: ~Copyable {
    private let curl: UnsafeMutableRawPointer

    /// libcurl's initialization, once per process.
    private static let hasStarted = ccurl_start() == CURLE_OK

    init() throws(SMTPError) {
        guard Self.hasStarted, let curl = curl_easy_init() else { throw .interrupted }
        self.curl = curl
    }

    deinit { curl_easy_cleanup(curl) }

    func send(
        _ message: [UInt8],
        from sender: String,
        to recipient: String,
        through server: SMTPServer
    ) throws(SMTPError) {
        try prepare(server)
        try send(message, from: sender, to: recipient)
    }

    private func prepare(_ server: SMTPServer) throws(SMTPError) {
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        try set(CURLOPT_URL, "\(server.security == .tls ? "smtps" : "smtp")://\(host):\(server.port)")
        try set(CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        // The environment's proxy is ignored: emails go to the configured server.
        try set(CURLOPT_PROXY, "")
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_USE_SSL, Int(server.security == .none ? CURLUSESSL_NONE.rawValue : CURLUSESSL_ALL.rawValue))
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        if let authorities = server.authorities { try set(CURLOPT_CAINFO, authorities) }
        if let user = server.user {
            try set(CURLOPT_USERNAME, user)
            try set(CURLOPT_PASSWORD, server.password?.reveal() ?? "")
            try set(CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN")
        }
        try set(CURLOPT_CONNECTTIMEOUT_MS, Int(server.connectSeconds * 1000))
        try set(CURLOPT_TIMEOUT_MS, Int(server.seconds * 1000))
        // The limit above ends before QUIT, for whose response libcurl waits two minutes.
        try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(server.seconds.rounded(.up)))
    }

    private func send(_ message: [UInt8], from sender: String, to recipient: String) throws(SMTPError) {
        guard Self.isOneWord(sender), Self.isOneWord(recipient) else { throw .invalidAddress }
        try set(CURLOPT_MAIL_FROM, sender)
        guard let recipients = curl_slist_append(nil, recipient) else { throw .interrupted }
        defer { curl_slist_free_all(recipients) }
        try check(ccurl_set_list(curl, CURLOPT_MAIL_RCPT, recipients))
        // Only the numbers of responses matter; without this, libcurl may print some.
        try check(ccurl_set_writing(curl) { _, size, count, _ in size * count })
        let exchange = Exchange(message)
        let code: CURLcode = try withExtendedLifetime(exchange) { () throws(SMTPError) in
            let context = Unmanaged.passUnretained(exchange).toOpaque()
            try set(CURLOPT_UPLOAD, 1)
            try check(ccurl_set_reading(curl, Exchange.read, context))
            try check(ccurl_set_watching(curl, Exchange.watch, context))
            defer { _ = ccurl_set_number(curl, CURLOPT_VERBOSE, 0) }
            return curl_easy_perform(curl)
        }
        guard code != CURLE_OK else { return }
        throw Self.error(code, answer: ccurl_response_code(curl), to: exchange.question)
    }

    /// Whether a text is safe in `MAIL FROM:<…>`: no control character, no space, no bracket.
    private static func isOneWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != 0x3c && $0 != 0x3e }
    }

    /// - Parameter question: the command that the server responded to; nil before the email was mentioned.
    private static func error(_ code: CURLcode, answer: Int, to question: Exchange.Question?) -> SMTPError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: return .unreachable
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_LOGIN_DENIED: return .notAuthenticated
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ISSUER_ERROR:
            return .notSecured
        default: break
        }
        guard let question else { return .interrupted }
        switch answer {
        // The server requires authentication or refuses the user (RFC 4954 §6), or requires TLS.
        case 530, 534, 535, 538: return .notAuthenticated
        case 400..<500: return .deferred(answer)
        case 500..<600: return question == .sender ? .senderRefused(answer) : .refused(answer)
        default: return .interrupted
        }
    }

    private func set(_ option: CURLoption, _ number: Int) throws(SMTPError) {
        try check(ccurl_set_number(curl, option, number))
    }

    /// libcurl keeps a copy.
    private func set(_ option: CURLoption, _ text: String) throws(SMTPError) {
        // C would use only the part before it.
        guard !text.utf8.contains(0) else { throw .interrupted }
        try check(ccurl_set_text(curl, option, text))
    }

    private func check(_ code: CURLcode) throws(SMTPError) {
        guard code == CURLE_OK else { throw .interrupted }
    }
}

/// The part of an email that libcurl has read, and its commands; used by one thread.
private final class Exchange {
    /// The commands about an email.
    enum Question: String {
        case sender = "MAIL"
        case recipient = "RCPT"
        case mail = "DATA"
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The last one.
    private(set) var question: Question?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static let read: curl_read_callback = { buffer, size, count, context in
        guard let buffer, let context else { return 0 }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        let length = min(size * count, exchange.bytes.count - exchange.position)
        let part = exchange.bytes[exchange.position..<exchange.position + length]
        UnsafeMutableRawBufferPointer(start: buffer, count: length).copyBytes(from: part)
        exchange.position += length
        return length
    }

    /// Receives each sent line and keeps only the command's name.
    static let watch: curl_debug_callback = { _, kind, text, length, context in
        guard kind == CURLINFO_HEADER_OUT, length >= 4, let text, let context else { return 0 }
        let name = String(decoding: UnsafeRawBufferPointer(start: text, count: 4), as: UTF8.self)
        guard let question = Question(rawValue: name) else { return 0 }
        Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().question = question
        return 0
    }
}
