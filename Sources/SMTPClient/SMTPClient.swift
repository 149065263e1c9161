import NIOPosix
import ServiceLifecycle
import Synchronization

/// Sends emails to an SMTP server (RFC 5321), several over each connection.
///
/// libcurl blocks, so it runs on separate threads.
package final class SMTPClient: Service {
    private let server: SMTPServer
    private let pool: NIOThreadPool
    /// Those that have sent an email, and when; the last one is used first.
    private let idle = Mutex<[(conversation: Conversation, since: ContinuousClock.Instant)]>([])

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
        let stop = StopTime()
        let result: Result<Void, SMTPError> = await withGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                pool.submit { [self] state in
                    continuation.resume(
                        returning: Result { () throws(SMTPError) in
                            guard state == .active else { throw .stopped }
                            try converse(message, from: sender, to: recipient, stop)
                        }
                    )
                }
            }
        } onGracefulShutdown: {
            stop.begin()
        }
        try result.get()
    }

    private func converse(
        _ message: [UInt8],
        from sender: String,
        to recipient: String,
        _ stop: StopTime
    ) throws(SMTPError) {
        let used = idle.withLock { $0.popLast()?.conversation }
        let conversation = if let used { used } else { try Conversation(with: server) }
        try conversation.send(message, from: sender, to: recipient, stop)
        idle.withLock { $0.append((conversation, .now)) }
    }

    /// Lets connections finish, refuses waiting emails, and ends the threads.
    package func shutdown() async {
        try? await pool.shutdownGracefully()  // throws for pools that can't be stopped, which this is not
        close(unusedSince: .now)
    }

    /// How long a connection waits for the next email.
    private static let idleTime = Duration.seconds(20)

    /// Keeps the threads until the service group stops, and closes connections that are not needed any more.
    package func run() async throws {
        try? await cancelWhenGracefulShutdown { [self] in
            while true {
                try await Task.sleep(for: Self.idleTime)
                close(unusedSince: .now - Self.idleTime)
            }
        }
        await shutdown()
    }

    private func close(unusedSince date: ContinuousClock.Instant) {
        // Connections end with their objects, which needs no lock.
        _ = idle.withLock { idle in
            let old = idle.filter { $0.since <= date }
            idle.removeAll { $0.since <= date }
            return old
        }
    }
}
