import NIOPosix
import ServiceLifecycle

/// Hands mails to an SMTP server (RFC 5321), each in a conversation of its own.
///
/// libcurl blocks while it speaks, so it runs on threads that are there for nothing else.
package final class SMTPClient: Service {
    private let server: SMTPServer
    private let pool: NIOThreadPool

    /// Starts the threads.
    ///
    /// - Parameter conversations: how many at a time; further mails wait.
    package init(_ server: SMTPServer, conversations: Int = 16) {
        self.server = server
        pool = NIOThreadPool(numberOfThreads: conversations)
        pool.start()
    }

    /// Returns once the server has taken the mail, and answers for it.
    ///
    /// - Parameter message: header and body (RFC 5322), its lines ended by CR LF.
    package func send(
        _ message: [UInt8],
        from sender: String,
        to recipient: String
    ) async throws(SMTPError) {
        let result: Result<Void, SMTPError> = await withCheckedContinuation { continuation in
            pool.submit { [server] state in
                continuation.resume(
                    returning: Result { () throws(SMTPError) in
                        guard state == .active else { throw .stopped }
                        try Conversation().send(message, from: sender, to: recipient, through: server)
                    }
                )
            }
        }
        try result.get()
    }

    /// Lets conversations end, refuses mails that wait, and ends the threads.
    package func shutdown() async {
        try? await pool.shutdownGracefully()  // throws for pools that can't be stopped, which this is not
    }

    /// Keeps the threads until the service group stops.
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }
}
