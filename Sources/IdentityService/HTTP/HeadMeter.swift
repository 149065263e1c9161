import NIOCore

/// Counts the bytes of heads before the decoder keeps them, and passes on none for which there is no room.
final class HeadMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct NoRoom: Error {}

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.counts(unwrapInboundIn(data).readableBytes) {
            context.fireChannelRead(data)
        } else {
            context.fireErrorCaught(NoRoom())
        }
    }
}
