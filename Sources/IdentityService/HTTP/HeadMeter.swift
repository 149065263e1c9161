import NIOCore

/// Counts the bytes that the decoder keeps of heads that have not ended.
final class HeadMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct NoRoom: Error {}

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.decodes(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
        if !connection.hasRoomForHeads() { context.fireErrorCaught(NoRoom()) }
    }
}
