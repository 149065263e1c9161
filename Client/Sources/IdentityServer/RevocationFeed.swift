public import Foundation
import IdentityCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The revoked sessions, disabled accounts and deleted tenants of a project, in memory.
///
/// Pass it to ``TokenVerifier``, and run it beside the server:
///
/// ```swift
/// let feed = RevocationFeed(url: url, projectID: "my-project", accessToken: { adminKey })
/// try await feed.run()
/// ```
///
/// While the service cannot be reached, tokens are judged by what was last read. ``lastRead`` tells how old that is.
public final class RevocationFeed: Sendable {
    private struct State {
        var cursor: String?
        var sessions: [String: Int64] = [:]
        var accounts: [AccountKey: Int64] = [:]
        var tenants: [String: Int64] = [:]
        var lastRead: Date?
    }

    /// Two tenants may have accounts with the same ID.
    private struct AccountKey: Hashable {
        var tenant: String?
        var id: String
    }

    private let url: URL
    private let accessToken: @Sendable () async throws -> String
    private let tokenLifetime: Int64
    private let interval: Duration
    private let state = Protected(State())

    /// - Parameters:
    ///   - url: the service, as this process reaches it.
    ///   - projectID: the project's ID.
    ///   - accessToken: a credential with the scope `accounts.read`, such as a key of `identity admin-keys create`.
    ///   - tokenLifetime: of the longest-lived tokens that you accept, in seconds: 3600 for ID tokens, 1,209,600 for
    ///     session cookies.
    ///   - interval: between two readings.
    public init(
        url: URL,
        projectID: String,
        accessToken: @escaping @Sendable () async throws -> String,
        tokenLifetime: Int = 3600,
        interval: Duration = .seconds(5)
    ) {
        self.url = url.appendingPathComponent("v1/projects/\(projectID)/revocations")
        self.accessToken = accessToken
        self.tokenLifetime = Int64(tokenLifetime)
        self.interval = interval
    }

    /// When the feed was last read to its end; nil before the first time.
    public var lastRead: Date? { state.withLock { $0.lastRead } }

    /// Reads the feed again and again, until the task is cancelled.
    ///
    /// Failures are tried again after the interval.
    public func run() async throws {
        while !Task.isCancelled {
            try? await read()
            try? await Task.sleep(for: interval)
        }
    }

    /// Reads the feed to its end, once.
    public func read() async throws {
        var page: Page
        repeat {
            page = try await nextPage()
            apply(page)
        } while page.hasMore
        forgetExpired(now: Date())
    }

    /// Whether the feed names the token's session, account or tenant.
    public func isRevoked(_ token: VerifiedToken) -> Bool {
        let issuedAt = Int64(token.issuedAt.timeIntervalSince1970 * 1000)
        return state.withLock { state in
            if let session = token.sessionID, state.sessions[session] != nil { return true }
            if let tenant = token.tenantID, state.tenants[tenant] != nil { return true }
            return state.accounts[AccountKey(tenant: token.tenantID, id: token.uid)].map { issuedAt <= $0 } ?? false
        }
    }

    private struct Page: Decodable {
        struct Event: Decodable {
            var type: String
            var localId: String?
            var sessionId: String?
            var tenantId: String?
            var revokedAt: String
        }

        var revocations: [Event]
        var cursor: String
        var hasMore: Bool
    }

    private func nextPage() async throws -> Page {
        let cursor = state.withLock { $0.cursor }
        let position =
            cursor.map { URLQueryItem(name: "cursor", value: $0) }
            ?? URLQueryItem(name: "tokenLifetime", value: String(tokenLifetime))
        var request = URLRequest(url: url.appending(queryItems: [position]))
        request.setValue("Bearer \(try await accessToken())", forHTTPHeaderField: "Authorization")
        let response = try await HTTP.send(request)
        // A refused cursor stays refused: the next reading begins anew.
        if response.status == 400 { state.withLock { $0.cursor = nil } }
        guard response.status == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode(Page.self, from: response.body)
    }

    /// An event that arrives twice changes nothing the second time.
    private func apply(_ page: Page) {
        state.withLock { state in
            for event in page.revocations {
                guard let time = Int64(event.revokedAt) else { continue }
                switch event.type {
                case "SESSION_REVOKED": if let id = event.sessionId { state.sessions[id] = time }
                case "ACCOUNT_DISABLED":
                    if let id = event.localId { state.accounts[AccountKey(tenant: event.tenantId, id: id)] = time }
                case "TENANT_DELETED": if let id = event.tenantId { state.tenants[id] = time }
                default: continue
                }
            }
            state.cursor = page.cursor
        }
    }

    /// Drops events whose tokens have expired; ten minutes more for clocks and for repetitions.
    private func forgetExpired(now: Date) {
        let oldest = Int64(now.timeIntervalSince1970 - 600) * 1000 - tokenLifetime * 1000
        state.withLock { state in
            state.lastRead = now
            state.sessions = state.sessions.filter { $0.value >= oldest }
            state.accounts = state.accounts.filter { $0.value >= oldest }
            state.tenants = state.tenants.filter { $0.value >= oldest }
        }
    }
}
