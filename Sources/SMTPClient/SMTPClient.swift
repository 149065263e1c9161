import NIOPosix
import ServiceLifecycle

/// Sends emails to an SMTP server (RFC 5321), each over its own connection.
///
/// libcurl blocks, so it runs on separate threads.
package final class SMTPClient: Service {
    private let server: SMTPServer
    private let pool: NIOThreadPool

    /// Starts the threads.
    ///
    /// - Parameter conversations: the number of simultaneous connections; further emails wait.
    package init(_ server: SMTPServer, conversations: Int = 16) {
        self.server = server
        pool = NIOThreadPool(numberOfThreads: conversations)
        pool.start()
    }

    /// Returns once the server has accepted the email and is responsible for it.
    ///
    /// - Parameter message: header and body (RFC 5322), with lines ending in CR LF.
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

    /// Lets connections finish, refuses waiting emails, and ends the threads.
    package func shutdown() async {
        try? await pool.shutdownGracefully()  // throws for pools that can't be stopped, which this is not
    }

    /// Keeps the threads until the service group stops.
    package func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }
}
