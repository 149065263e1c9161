import CCurl
import Secrets
import Synchronization
import Text

/// A connection to a server, for one email after another; blocks.
///
/// It is opened with the first email, and again after an error, or when it was idle for two minutes. One thread uses it at
/// a time.
final class Conversation: @unchecked Sendable {
    private let curl: UnsafeMutableRawPointer
    private let limits: SMTPServer.Limits

    /// libcurl's initialization, once per process.
    private static let hasStarted = ccurl_start() == CURLE_OK

    init(with server: SMTPServer) throws(SMTPError) {
        guard Self.hasStarted, let curl = curl_easy_init() else { throw .interrupted }
        self.curl = curl
        limits = server.limits
        try prepare(server)
    }

    deinit { ccurl_end(curl) }

    private func prepare(_ server: SMTPServer) throws(SMTPError) {
        let host = server.host.contains(":") ? "[\(server.host)]" : server.host
        // The path is the name in EHLO.
        let hello = PercentEncoding.encode(server.helloName ?? "")
        try set(CURLOPT_URL, "\(server.security == .tls ? "smtps" : "smtp")://\(host):\(server.port)/\(hello)")
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
        // `Exchange` has the limits of each step. libcurl's would end an email that waits for its greeting or response.
        let longest = Int(server.limits.total * 1000)
        try set(CURLOPT_CONNECTTIMEOUT_MS, longest)
        try set(CURLOPT_TIMEOUT_MS, longest)
        try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(server.limits.total.rounded(.up)))
    }

    /// - Parameter stop: when the node began to stop.
    func send(_ message: [UInt8], from sender: String, to recipient: String, _ stop: StopTime) throws(SMTPError) {
        guard Self.isOneWord(sender), Self.isOneWord(recipient) else { throw .invalidAddress }
        try set(CURLOPT_MAIL_FROM, sender)
        guard let recipients = curl_slist_append(nil, recipient) else { throw .interrupted }
        defer { curl_slist_free_all(recipients) }
        try check(ccurl_set_list(curl, CURLOPT_MAIL_RCPT, recipients))
        // `Exchange` reads the numbers of responses; without this, libcurl may print some.
        try check(ccurl_set_writing(curl) { _, size, count, _ in size * count })
        try set(CURLOPT_UPLOAD, 1)
        do {
            try perform(Exchange(message, on: curl, limits, stop))
        } catch {
            guard error.isOfOldConnection else { throw error.reason }
            // The server has closed it since the last email, and knows nothing of this one.
            do { try perform(Exchange(message, on: curl, limits, stop)) } catch { throw error.reason }
        }
    }

    private struct Failure: Error {
        var reason: SMTPError
        var isOfOldConnection = false
    }

    private func perform(_ exchange: Exchange) throws(Failure) {
        let code: CURLcode
        do {
            code = try withExtendedLifetime(exchange) { () throws(SMTPError) in
                let context = Unmanaged.passUnretained(exchange).toOpaque()
                try check(ccurl_set_reading(curl, Exchange.read, context))
                try check(ccurl_set_watching(curl, Exchange.watch, context))
                try check(ccurl_set_waiting(curl, Exchange.wait, context))
                defer {
                    _ = ccurl_set_number(curl, CURLOPT_VERBOSE, 0)
                    _ = ccurl_set_number(curl, CURLOPT_NOPROGRESS, 1)
                }
                return curl_easy_perform(curl)
            }
        } catch {
            throw Failure(reason: error)
        }
        guard code != CURLE_OK else { return }
        let error = Self.error(code, exchange.reply, to: exchange.question, isTrusted: ccurl_trusts(curl))
        let isClosed = error == .interrupted || exchange.reply?.code == 421
        throw Failure(
            reason: error,
            isOfOldConnection: isClosed && exchange.question != .mail && ccurl_has_reused(curl)
        )
    }

    /// Whether a text is safe in `MAIL FROM:<…>`: no control character, no space, no bracket.
    private static func isOneWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != 0x3c && $0 != 0x3e }
    }

    /// - Parameter reply: the last one.
    /// - Parameter question: the command that the server responded to; nil before the email was mentioned.
    /// - Parameter isTrusted: whether nothing but its name is wrong with the server's certificate.
    private static func error(
        _ code: CURLcode,
        _ reply: SMTPReply?,
        to question: Exchange.Question?,
        isTrusted: Bool
    ) -> SMTPError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: return .unknownHost
        case CURLE_COULDNT_CONNECT: return .unreachable
        case CURLE_OPERATION_TIMEDOUT, CURLE_ABORTED_BY_CALLBACK: return .timedOut
        case CURLE_LOGIN_DENIED: return .notAuthenticated
        case CURLE_PEER_FAILED_VERIFICATION: return isTrusted ? .wrongName : .untrusted
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_USE_SSL_FAILED, CURLE_SSL_ISSUER_ERROR:
            return .notSecured
        default: break
        }
        guard let reply, reply.code >= 400 else { return .interrupted }
        switch reply.code {
        // The server requires authentication or refuses the user (RFC 4954 §6), or requires TLS.
        case 530, 534, 535, 538: return .notAuthenticated
        case 400..<500: return .deferred(reply)
        default: break
        }
        if question == nil || question == .sender || reply.isAboutClient { return .nodeRefused(reply) }
        return reply.isAboutRecipient ? .recipientRefused(reply) : .refused(reply)
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

/// The part of an email that libcurl has read, its commands and how long they wait; used by one thread.
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
    /// The last one.
    private(set) var reply: SMTPReply?
    /// Whether libcurl says goodbye, which it does before it reports an error.
    private var isOver = false
    private let curl: UnsafeMutableRawPointer
    private let limits: SMTPServer.Limits
    private let stop: StopTime
    /// The time of the last command, response, or part of the email.
    private var lastStep = ContinuousClock.now

    init(_ bytes: [UInt8], on curl: UnsafeMutableRawPointer, _ limits: SMTPServer.Limits, _ stop: StopTime) {
        (self.bytes, self.curl, self.limits, self.stop) = (bytes, curl, limits, stop)
    }

    /// Whether the server takes too long.
    private var hasTimedOut: Bool {
        let (now, limit) = (ContinuousClock.now, Duration.seconds(stepLimit))
        if let begin = stop.value, begin + .seconds(limits.stopping) < now { return true }
        return lastStep + limit < now
    }

    private var stepLimit: Double {
        if isOver { return limits.connection }
        if question == .mail { return limits.acceptance }
        return question == nil && reply == nil && !ccurl_has_connected(curl) ? limits.connection : limits.reply
    }

    static let read: curl_read_callback = { buffer, size, count, context in
        guard let buffer, let context else { return 0 }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        let length = min(size * count, exchange.bytes.count - exchange.position)
        let part = exchange.bytes[exchange.position..<exchange.position + length]
        UnsafeMutableRawBufferPointer(start: buffer, count: length).copyBytes(from: part)
        exchange.position += length
        exchange.lastStep = .now
        return length
    }

    /// Receives each line, and keeps only the command's name and the numbers of the response.
    static let watch: curl_debug_callback = { _, kind, text, length, context in
        guard length >= 4, let text, let context else { return 0 }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        // No number is longer than `550 5.123.123 `.
        let line = String(decoding: UnsafeRawBufferPointer(start: text, count: min(length, 14)), as: UTF8.self)
        exchange.lastStep = .now
        switch kind {
        case _ where exchange.isOver: break
        case CURLINFO_HEADER_OUT where line.hasPrefix("QUIT"): exchange.isOver = true
        case CURLINFO_HEADER_OUT: exchange.question = Question(rawValue: String(line.prefix(4))) ?? exchange.question
        case CURLINFO_HEADER_IN: exchange.reply = SMTPReply(line: line) ?? exchange.reply
        default: break
        }
        return 0
    }

    static let wait: curl_xferinfo_callback = { context, _, _, _, _ in
        guard let context else { return 0 }
        return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().hasTimedOut ? 1 : 0
    }
}

/// When the node began to stop; nil before.
final class StopTime: Sendable {
    private let time = Mutex<ContinuousClock.Instant?>(nil)

    var value: ContinuousClock.Instant? { time.withLock { $0 } }

    func begin() { time.withLock { $0 = $0 ?? .now } }
}
