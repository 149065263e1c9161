import HTTPTypes
import NIOCore
import NIOHTTP1
import Text

/// One connection: processes its requests one after another, each completely, and writes the responder's responses.
///
/// It follows NIO's decoder, and a request runs on the connection's own event loop. What a client sends before it has
/// its response waits, and reading pauses until nothing waits. The connection ends after the current response if the client
/// or HTTP/1.0 requires it, if the server stops, and after anything that is not HTTP.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Waits for a request.
        case idle
        case reading(HTTPRequestHead, refusal: WireError?)
        case answering(Task<Void, Never>)
        case closed
    }

    private let responder: ServiceResponder
    private let load: ServerLoad
    private let limits: ServiceResponder.Limits
    private let executor: EventLoopExecutor
    private let isEncrypted: Bool
    private var peer: IPAddress?
    /// Whether there was room for the connection.
    private var hasRoom = true
    private var state = State.idle
    /// Parts of later requests that arrived before the current response.
    private var waiting = CircularBuffer<HTTPServerRequestPart>()
    private var holdsRead = false
    /// No request is accepted after the current one.
    private var isEnding = false
    /// The client has the start of a response in parts.
    private var hasBegunParts = false
    /// The data after the current request is not HTTP.
    private var broken: HTTPResponse.Status?
    /// The client sends nothing more, but may still read.
    private var isInputClosed = false
    /// The received part of the current body.
    ///
    /// It is kept outside of the state, because a buffer with two references is copied when it grows.
    private var body = ByteBuffer()
    /// The maximum size of the current body; nil if no route reads it, and nothing is kept.
    private var bodyLimit: Int?
    /// The number of body bytes counted in ``ServerLoad``, and the address that they are counted for.
    private var held = 0
    private var holder: ServerLoad.Networks?
    /// The deadline of the current step.
    private var due = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private var timerTime = NIODeadline.distantFuture

    init(_ responder: ServiceResponder, _ eventLoop: any EventLoop, isEncrypted: Bool) {
        self.responder = responder
        self.isEncrypted = isEncrypted
        load = responder.load
        limits = responder.limits
        executor = EventLoopExecutor(eventLoop)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        peer = context.channel.remoteAddress?.ipAddress.flatMap { IPAddress(caller: $0) }
        hasRoom = load.opened(by: peerNetworks)
        limit(to: limits.firstHead, context)
    }

    func channelActive(context: ChannelHandlerContext) {
        if !hasRoom { close(context) }
        context.fireChannelActive()
    }

    /// Nil for a proxy, whose clients share its connections.
    private var peerNetworks: ServerLoad.Networks? {
        peer.flatMap { limits.proxies.trusts($0) ? nil : ServerLoad.Networks(of: $0) }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if mayTake(context) {
            take(part, context)
        } else if !isEnding {
            waiting.append(part)
            load.wait(part.bodyBytes)
        }
    }

    func read(context: ChannelHandlerContext) {
        holdsRead = !waiting.isEmpty || !context.channel.isWritable
        if !holdsRead { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        takeWaiting(context)
        context.fireChannelWritabilityChanged()
    }

    /// One request at a time, and none while the client does not read its responses.
    private func mayTake(_ context: ChannelHandlerContext) -> Bool {
        if case .answering = state { return false }
        return context.channel.isWritable
    }

    private func takeWaiting(_ context: ChannelHandlerContext) {
        while mayTake(context), let part = waiting.popFirst() {
            load.wait(-part.bodyBytes)
            take(part, context)
        }
        switch state {
        case .idle, .reading:
            guard waiting.isEmpty else { break }
            if let broken { return refuse(broken, context) }
            if isInputClosed { return closeAfterAnswers(context) }
        case .answering, .closed: break
        }
        if holdsRead { read(context: context) }
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch (part, state) {
        case (.head(let sent), .idle):
            guard !sent.hasUnknownCoding else {
                isEnding = true
                return refuse(sent.version == .http1_0 ? .badRequest : .notImplemented, context)
            }
            guard let head = sent.inOriginForm else {
                isEnding = true
                return refuse(.badRequest, context)
            }
            let refusal: WireError? =
                if !head.namesOneHost { .invalidHost } else if head.uri.utf8.count > Request.maximumTarget {
                    .longTarget
                } else { nil }
            if refusal != nil { isEnding = true }
            state = .reading(head, refusal: refusal)
            bodyLimit = responder.bodyLimit(of: head)
            limit(to: limits.time, context)
            if head.headers.contains(name: "expect"), Request.hasBody(head.fieldMethod) {
                // The body comes only after an answer.
                if let refusal { return answer(head, refusal, context) }
                let text: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: text)), promise: nil)
            }
        case (.body(let part), .reading(let head, refusal: nil)):
            guard let refusal = append(part, to: head) else { break }
            // The rest is read and dropped, because a client that is still sending would not see a response.
            body = ByteBuffer()
            state = .reading(head, refusal: refusal)
        case (.end, .reading(let head, let refusal)): answer(head, refusal, context)
        default: break
        }
    }

    /// Appends a part of the body, unless it becomes too large.
    private func append(_ part: ByteBuffer, to head: HTTPRequestHead) -> WireError? {
        guard let bodyLimit else { return nil }
        guard body.readableBytes + part.readableBytes <= bodyLimit else { return .tooLarge(bodyLimit) }
        if held == 0 { holder = networks(of: head) }
        guard load.hold(part.readableBytes, after: held, of: holder) else { return .unavailable(cause: "bodies") }
        held += part.readableBytes
        if body.readableBytes == 0 { body = part } else { body.writeImmutableBuffer(part) }
        return nil
    }

    private func networks(of head: HTTPRequestHead) -> ServerLoad.Networks? {
        let forwarded = head.headers["x-forwarded-for"]
        return peer.map {
            ServerLoad.Networks(
                of: limits.proxies.client(
                    peer: $0,
                    forwardedFor: forwarded.isEmpty ? nil : forwarded.joined(separator: ", ")
                )
            )
        }
    }

    private func answer(
        _ head: HTTPRequestHead,
        _ refusal: WireError?,
        _ context: ChannelHandlerContext
    ) {
        var request = Request(
            method: head.fieldMethod,
            target: head.uri,
            headers: head.fields,
            body: body,
            peer: peer
        )
        body = ByteBuffer()
        request.refusal = refusal
        let caller = held > 0 ? holder : networks(of: head)
        let isAdmitted = load.begin(by: caller)
        // Gives the slot back, if it has one.
        let end: @Sendable () -> Void = { [load] in if isAdmitted { load.end(by: caller) } }
        // A preflight is answered all the same: without it, a page cannot see the refusal of its request.
        if !isAdmitted, head.fieldMethod != .options { request.refusal = .unavailable(cause: "requests") }
        if !head.isKeepAlive || head.wantsAnotherProtocol { isEnding = true }
        limit(to: limits.time, context)
        let connection = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let parts = Parts(connection: connection, isChunked: head.version != .http1_0)
        state = .answering(
            Task(executorPreference: executor) { [responder] in
                let response = await responder.respond(to: request)
                if response.nextPart != nil {
                    await parts.send(response)
                    return end()
                }
                end()
                let (connection, context) = connection.value
                connection.finish(response, context)
            }
        )
    }

    // MARK: Answers

    private func finish(_ response: Response, _ context: ChannelHandlerContext) {
        release()
        guard case .answering = state else { return }
        guard !isEnding else { return writeLast(response, context) }
        state = .idle
        limit(to: limits.idle, context)
        context.writeAndFlush(wrapOutboundOut(bytes(of: response)), promise: nil)
        takeWaiting(context)
    }

    // MARK: Answers in parts

    /// Sends a response part by part, each after the previous one has left.
    private struct Parts: Sendable {
        let connection: NIOLoopBound<(HTTPConnection, ChannelHandlerContext)>
        /// Clients of HTTP/1.0 know no chunks: the end of the connection is that of the response.
        let isChunked: Bool

        /// Without the last, empty chunk, the client knows that the response is not complete.
        func send(_ response: Response) async {
            do {
                try await send(head(of: response)).get()
                var part: ByteBuffer? = response.body
                while let body = part {
                    try await send(isChunked ? HTTPConnection.chunk(body) : body).get()
                    part = try await response.nextPart?()
                }
                end(isComplete: true)
            } catch {
                end(isComplete: false)
            }
        }

        private func head(of response: Response) -> ByteBuffer {
            let connection = connection.value.0
            var head = response
            head.body.clear()
            if isChunked { head.headers[.transferEncoding] = "chunked" } else { connection.isEnding = true }
            return connection.bytes(of: head, closes: connection.isEnding)
        }

        private func send(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
            let (connection, context) = connection.value
            guard case .answering = connection.state else {
                return context.eventLoop.makeFailedFuture(ChannelError.eof)
            }
            connection.limit(to: connection.limits.time, context)
            connection.hasBegunParts = true
            return context.writeAndFlush(connection.wrapOutboundOut(bytes))
        }

        private func end(isComplete: Bool) {
            let (connection, context) = connection.value
            connection.release()
            connection.hasBegunParts = false
            guard isComplete else { return connection.close(context) }
            let end: StaticString = "0\r\n\r\n"
            connection.finishParts(isChunked ? ByteBuffer(staticString: end) : ByteBuffer(), context)
        }
    }

    /// A part in the format of chunked coding (RFC 9112 §7.1); nothing for an empty one, which would be the end.
    private static func chunk(_ part: ByteBuffer) -> ByteBuffer {
        guard part.readableBytes > 0 else { return part }
        var bytes = ByteBuffer(string: String(part.readableBytes, radix: 16) + "\r\n")
        bytes.writeImmutableBuffer(part)
        bytes.writeStaticString("\r\n")
        return bytes
    }

    private func finishParts(_ end: ByteBuffer, _ context: ChannelHandlerContext) {
        guard case .answering = state else { return }
        context.writeAndFlush(wrapOutboundOut(end), promise: nil)
        guard !isEnding else { return closeAfterAnswers(context) }
        state = .idle
        limit(to: limits.idle, context)
        takeWaiting(context)
    }

    /// Responds to data that is not HTTP, or not all of it ours.
    private func refuse(_ status: HTTPResponse.Status, _ context: ChannelHandlerContext) {
        let name = status == .notImplemented ? "UNIMPLEMENTED" : "INVALID_ARGUMENT"
        let isLong = status == .requestHeaderFieldsTooLarge
        let text = isLong ? "The request's header fields are too long." : "The request is not valid HTTP."
        let error = WireError.status(status, name, text)
        writeLast(error.response(in: .status), context)
    }

    /// Closes the connection after the response is written.
    private func writeLast(_ response: Response, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(bytes(of: response, closes: true)), promise: nil)
        closeAfterAnswers(context)
    }

    /// Closes the connection after the client has received everything, or does not read it in time.
    private func closeAfterAnswers(_ context: ChannelHandlerContext) {
        state = .closed
        limit(to: limits.idle, context)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    private func bytes(of response: Response, closes: Bool = false) -> ByteBuffer {
        response.bytes(date: load.date.text(), closes: closes, isEncrypted: isEncrypted)
    }

    private func release() {
        load.release(held, of: holder)
        held = 0
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return close(context) }
        broken = error == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest
        takeWaiting(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isEnding = true
            if case .idle = state { closeAfterAnswers(context) }
        case ChannelEvent.inputClosed:
            isInputClosed = true
            takeWaiting(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func close(_ context: ChannelHandlerContext) {
        state = .closed
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { load.closed(by: peerNetworks) }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        load.wait(-waiting.reduce(0) { $0 + $1.bodyBytes })
        waiting.removeAll()
        // A running request continues, because its changes are atomic.
        if case .answering = state {} else { release() }
        state = .closed
        context.fireChannelInactive()
    }

    // MARK: Time

    /// One timer for all steps: it is rescheduled if it fires too early, not set for each request.
    private func limit(to time: TimeAmount, _ context: ChannelHandlerContext) {
        due = .now() + time
        guard due < timerTime else { return }
        timer?.cancel()
        startTimer(context)
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        timerTime = due
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.timerFired(context) }
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        timer = nil
        timerTime = .distantFuture
        guard due <= .now() else { return startTimer(context) }
        switch state {
        case .idle, .reading, .closed: close(context)
        case .answering(let task):
            task.cancel()
            // A write that the client does not read ends only with the connection.
            if hasBegunParts { close(context) }
        }
    }
}

extension HTTPServerRequestPart {
    fileprivate var bodyBytes: Int { if case .body(let bytes) = self { bytes.readableBytes } else { 0 } }
}

extension ServiceResponder {
    /// Nil for methods without a body and for paths without a route.
    fileprivate func bodyLimit(of head: HTTPRequestHead) -> Int? {
        guard Request.hasBody(head.fieldMethod),
            case .route(let route, _) = table.match(head.fieldMethod, String(head.uri.prefix { $0 != "?" }))
        else { return nil }
        let hasBearer = head.headers.first(name: "authorization").flatMap(Gate.bearerToken) != nil
        return route.bodyLimit(hasBearer: hasBearer)
    }
}

extension HTTPRequestHead {
    /// Every request of HTTP/1.1 does, and none names several (RFC 9112 §3.2).
    fileprivate var namesOneHost: Bool {
        let hosts = headers["host"]
        return (hosts.count == 1 || hosts.isEmpty && version == .http1_0) && hosts.allSatisfy(Self.isHost)
    }

    /// Whether it is an authority without user (RFC 9112 §3.2), or empty, as for a target without one.
    private static func isHost(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        guard let url = URLParts("http://" + text) else { return false }
        return url.isWeb && url.authority?.utf8.count == text.utf8.count
    }

    /// The request with its target in origin form: a target in absolute form, which clients send to what they take for a
    /// proxy, names the host itself, and `Host` is ignored then (RFC 9112 §3.2.2).
    ///
    /// Nil for what is no target.
    fileprivate var inOriginForm: HTTPRequestHead? {
        // The authority form is CONNECT's alone (§3.2.3), which has no route.
        guard !uri.hasPrefix("/"), method != .CONNECT else { return self }
        // The asterisk form is that of OPTIONS alone (§3.2.4).
        if uri == "*" { return method == .OPTIONS ? self : nil }
        guard let url = URLParts(uri), url.isWeb, let authority = url.authority else { return nil }
        // A second or missing header stays the error that it is without an absolute target.
        guard version == .http1_0 || headers["host"].count == 1 else { return self }
        var head = self
        head.uri = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
        head.headers.replaceOrAdd(name: "host", value: authority)
        return head
    }

    /// HTTP/1.0 knows no transfer codings, so where its body ends is uncertain; of the others, only `chunked` is decoded
    /// (RFC 9112 §6.1).
    fileprivate var hasUnknownCoding: Bool {
        let codings = headers["transfer-encoding"]
        guard !codings.isEmpty else { return false }
        return version != .http1_1 || codings.map { $0.lowercased() } != ["chunked"]
    }

    /// NIO's decoder reads no request after this one.
    fileprivate var wantsAnotherProtocol: Bool { method == .CONNECT || headers.contains(name: "upgrade") }

    fileprivate var fieldMethod: HTTPRequest.Method {
        switch method {
        case .POST: .post
        case .GET: .get
        // The decoder only accepts tokens.
        default: HTTPRequest.Method(rawValue: method.rawValue) ?? .trace
        }
    }

    fileprivate var fields: HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }
}

extension Response {
    /// The response in the format of HTTP/1.1 (RFC 9112 §4).
    fileprivate func bytes(date: String, closes: Bool, isEncrypted: Bool) -> ByteBuffer {
        var bytes = ByteBufferAllocator().buffer(capacity: 512 + body.readableBytes)
        if status == .ok {
            bytes.writeStaticString("HTTP/1.1 200 OK\r\n")
        } else {
            bytes.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        }
        for field in headers {
            bytes.writeString(field.name.rawName)
            bytes.writeStaticString(": ")
            bytes.writeString(field.value)
            bytes.writeStaticString("\r\n")
        }
        if closes { bytes.writeStaticString("connection: close\r\n") }
        if isEncrypted { bytes.writeStaticString("strict-transport-security: max-age=31536000\r\n") }
        bytes.writeStaticString("date: ")
        bytes.writeString(date)
        bytes.writeStaticString("\r\n\r\n")
        bytes.writeImmutableBuffer(body)
        return bytes
    }
}
