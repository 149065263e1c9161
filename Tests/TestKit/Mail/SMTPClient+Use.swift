package import SMTPClient

extension SMTPClient {
    /// Runs `body` with a client, whose threads have ended afterwards.
    package static func with<R>(
        _ server: SMTPServer,
        conversations: Int = 4,
        _ body: (SMTPClient) async throws -> R
    ) async throws -> R {
        let client = SMTPClient(server, conversations: conversations)
        do {
            let result = try await body(client)
            await client.shutdown()
            return result
        } catch {
            await client.shutdown()
            throw error
        }
    }
}
