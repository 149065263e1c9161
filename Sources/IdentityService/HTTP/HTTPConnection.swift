import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// One connection: takes its requests one after the other, each whole, and writes what the responder makes of them.
///
/// Stands behind NIO's decoder, encoder, pipelining (one request at a time; the end after the last answer when the server
/// stops) and its answer to what is no HTTP. A request runs on the connection's own event loop.
final class HTTPConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Waits for a request.
        case idle
        case reading(HTTPRequestHead, body: ByteBuffer, refusal: WireError?)
        case answering(Task<Void, Never>)
    }

    private let responder: ServiceResponder
    private let load: ServerLoad
    private let limits: ServiceResponder.Limits
    private let executor: EventLoopExecutor
    private var peer: NetworkAddress?
    private var state = State.idle
    /// The client sends nothing more, and may still read.
    private var isInputClosed = false
    /// Bytes of bodies that count as held.
    private var held = 0
    /// When what goes on now has taken too long.
    private var due = NIODeadline.distantFuture
    private var timer: Scheduled<Void>?
    private var timerTime = NIODeadline.distantFuture

    init(_ responder: ServiceResponder, _ load: ServerLoad, _ eventLoop: any EventLoop) {
        self.responder = responder
        self.load = load
        limits = responder.limits
        executor = EventLoopExecutor(eventLoop)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        peer = context.channel.remoteAddress?.ipAddress.flatMap { NetworkAddress($0) }
        limit(to: limits.idle, context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            state = .reading(head, body: ByteBuffer(), refusal: nil)
            limit(to: limits.time, context)
            if head.headers.contains(name: "expect"), Request.hasBody(head.fieldMethod) {
                context.writeAndFlush(wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: nil)
            }
        case .body(let part): read(part)
        case .end: answer(context)
        }
    }

    private func read(_ part: ByteBuffer) {
        guard case .reading(let head, var body, var refusal) = state, refusal == nil else { return }
        // Free for the append below, which would copy what two hold.
        state = .idle
        if body.readableBytes + part.readableBytes > Request.maximumBody {
            refusal = .tooLarge
        } else if !load.hold(part.readableBytes) {
            refusal = .unavailable(cause: "bodies")
        } else {
            held += part.readableBytes
            if body.readableBytes == 0 { body = part } else { body.writeImmutableBuffer(part) }
        }
        // The rest is read and dropped: a client that still sends would not see an answer.
        state = .reading(head, body: refusal == nil ? body : ByteBuffer(), refusal: refusal)
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard case .reading(let head, let body, let refusal) = state else { return }
        var request = Request(
            method: head.fieldMethod,
            target: head.uri,
            headers: head.fields,
            body: body,
            peer: peer
        )
        request.refusal = refusal
        let isAdmitted = load.begin()
        if !isAdmitted { request.refusal = .unavailable(cause: "requests") }
        let connection = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        state = .answering(
            Task(executorPreference: executor) { [responder, load] in
                let response = await responder.respond(to: request)
                if isAdmitted { load.end() }
                let (connection, context) = connection.value
                connection.write(response, to: head, context)
            }
        )
    }

    private func write(_ response: Response, to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        release()
        state = .idle
        guard context.channel.isActive else { return }
        var headers = HTTPHeaders()
        headers.reserveCapacity(response.headers.count + 2)
        for field in response.headers { headers.add(name: field.name.rawName, value: field.value) }
        headers.add(name: "date", value: load.date.text())
        if !request.isKeepAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: response.status.code),
            headers: headers
        )
        limit(to: limits.idle, context)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if response.body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if !request.isKeepAlive || isInputClosed { context.close(promise: nil) }
    }

    private func release() {
        load.release(held)
        held = 0
    }

    // MARK: Time

    /// One timer for all that goes on: it is set again when it fires too early, not for each request.
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
        case .idle, .reading: context.close(promise: nil)
        case .answering(let task): task.cancel()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        isInputClosed = true
        if case .answering = state { return }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        // One that is being answered goes on: what it changes is changed as a whole.
        if case .reading = state {
            release()
            state = .idle
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension HTTPRequestHead {
    fileprivate var fieldMethod: HTTPRequest.Method {
        switch method {
        case .POST: .post
        case .GET: .get
        default: HTTPRequest.Method(rawValue: method.rawValue) ?? .init("UNKNOWN")!
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
