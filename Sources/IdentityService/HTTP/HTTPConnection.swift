import HTTPTypes
import NIOCore
import NIOHTTP1
import Text

/// One connection: processes its requests one after another, each completely, and writes the responder's responses.
///
/// It follows NIO's decoder, before which a ``HeadMeter`` counts what comes, and a request runs on the connection's own
/// event loop. What a client sends before it has its response waits, and reading pauses until nothing waits. The
/// connection ends after the current response if the client or HTTP/1.0 requires it, if the server stops, and after
/// anything that is not HTTP.
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
    /// The size of the current head, of what the decoder keeps (at least), and the bytes of both counted in ``ServerLoad``.
    private var headBytes = 0
    private var undecoded = 0
    private var heldOfHeads = 0
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
        limit(to: limits.head, context)
    }

    func channelActive(context: ChannelHandlerContext) {
        if !hasRoom { close(context) }
        context.fireChannelActive()
    }

    /// Nil for a proxy, whose clients share its connections.
    private var peerNetworks: ServerLoad.Networks? {
        peer.flatMap { limits.proxies.trusts($0) ? nil : ServerLoad.Networks(of: $0) }
    }

    // MARK: Heads

    /// More than almost every head has.
    private static let usualHead = 4 << 10

    /// Counts bytes that are about to be decoded.
    func decodes(_ bytes: Int) { undecoded += bytes }

    /// Whether there is room for what the decoder has kept of them.
    ///
    /// For 4 KiB there is; what is beyond counts as a body's bytes do until the request is answered, so that heads that
    /// never end, also behind a request that is not answered yet, cannot fill the memory (threats.md, T-E38).
    func hasRoomForHeads() -> Bool {
        if case .closed = state { return true }
        if case .idle = state, undecoded > 0 { due = min(due, .now() + limits.head) }
        let excess = headBytes + undecoded - Self.usualHead - heldOfHeads
        guard excess > 0 else { return true }
        guard load.hold(excess, after: heldOfHeads, of: peerNetworks) else { return false }
        heldOfHeads += excess
        return true
    }

    private func note(decoded part: HTTPServerRequestPart) {
        undecoded = max(0, undecoded - part.leastBytes)
        // Spaces and the sizes of chunks add up to a little more than the least.
        if case .end = part, undecoded <= Self.usualHead { undecoded = 0 }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .idle = state, due < timerTime { startTimer(context) }
        context.fireChannelReadComplete()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        note(decoded: part)
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
            headBytes = part.leastBytes
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
        limit(to: undecoded > 0 ? limits.head : limits.idle, context)
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
        limit(to: undecoded > 0 ? limits.head : limits.idle, context)
        takeWaiting(context)
    }

    /// Responds to data that is not HTTP, or not all of it ours, or for which there is no room.
    private func refuse(_ status: HTTPResponse.Status, _ context: ChannelHandlerContext) {
        let notHTTP = "The request is not valid HTTP."
        let error: WireError =
            switch status {
            case .serviceUnavailable: .unavailable(cause: "heads")
            case .requestHeaderFieldsTooLarge:
                .status(status, "INVALID_ARGUMENT", "The request's header fields are too long.")
            case .notImplemented: .status(status, "UNIMPLEMENTED", notHTTP)
            default: .status(status, "INVALID_ARGUMENT", notHTTP)
            }
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
        load.release(heldOfHeads, of: peerNetworks)
        (held, heldOfHeads, headBytes) = (0, 0, 0)
        if case .answering = state, !hasRoomForHeads() { broken = .serviceUnavailable }
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: broken = .requestHeaderFieldsTooLarge
        case is HTTPParserError: broken = .badRequest
        case is HeadMeter.NoRoom: broken = .serviceUnavailable
        default: return close(context)
        }
        takeWaiting(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            isEnding = true
            if case .idle = state { limit(to: limits.parting, context) }
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
        if due < timerTime { startTimer(context) }
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        timer?.cancel()
        timerTime = due
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.timerFired(context) }
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        timer = nil
        timerTime = .distantFuture
        guard due <= .now() else { return startTimer(context) }
        switch state {
        // What has been answered is still leaving.
        case .idle where isEnding: closeAfterAnswers(context)
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

    /// The number of bytes that it takes at least (RFC 9112 §3, §5).
    fileprivate var leastBytes: Int {
        switch self {
        case .head(let head):
            head.headers.reduce(head.method.rawValue.utf8.count + head.uri.utf8.count + "  HTTP/1.1\r\n\r\n".utf8.count)
            {
                $0 + $1.name.utf8.count + $1.value.utf8.count + ":\r\n".utf8.count
            }
        case .body(let bytes): bytes.readableBytes
        case .end: 0
        }
    }
}

extension ServiceResponder {
    /// Nil for methods without a body and for paths without a route.
    fileprivate func bodyLimit(of head: HTTPRequestHead) -> Int? {
        guard Request.hasBody(head.fieldMethod),
            case .route(let route, _) = table.match(head.fieldMethod, String(head.uri.prefix { $0 != "?" }))
        else { return nil }
        let hasBearer = head.headers.first(name: "authorization").flatMap(RequestAuthenticator.bearerToken) != nil
        return route.bodyLimit(hasBearer: hasBearer)
    }
}
