package import Domain
package import Federation
package import Foundation
package import Postgres
package import Projects
import Requests
package import Secrets

/// Pending credentials of account conflicts: their identity was verified, and no account has it yet.
package struct PendingCredentialStore: Sendable {
    let database: PostgresClient
    let keyRing: KeyRing
    private let batches: Bool
    let inserts: Batcher<Never, NewPendingCredential, Bool>

    /// - Parameter batches: whether simultaneous conflicts share a statement.
    package init(database: PostgresClient, keyRing: KeyRing, batches: Bool = true) {
        self.database = database
        self.keyRing = keyRing
        self.batches = batches
        inserts = Batcher(isOn: batches) { try await Self.insert($0, shared: batches, database) }
    }

    /// How long after its success the same request gets the same response, in seconds.
    package static let retrySeconds = 60.0

    /// How long a pending credential is good, in seconds.
    package static let lifetime = 3600.0

    package struct Pending: Sendable {
        package var handleHash: [UInt8]
        package var credential: FederatedCredential
        package var expiresAt: Date
        /// The account that redeemed it, and the time.
        package var redeemed: (by: AccountID, at: Date)?

        package var createdAt: Date { expiresAt.addingTimeInterval(-PendingCredentialStore.lifetime) }
    }

    /// How a client refers to a pending credential.
    package enum Key: Sendable {
        case handle(String)
        /// The hash of the handle of a credential that was found before.
        case handleHash([UInt8])
        /// The provider's tokens that the conflict returned; Web SDKs resume with these.
        case tokens(idToken: String?, accessToken: String?, provider: ProviderID)
    }

    /// - Throws: ``RateLimitReached``.
    package func insert(
        _ credential: FederatedCredential,
        handle: Secret,
        within limits: RateLimits = .none,
        in scope: Scope,
        now: Date,
        expiresAt: Date
    ) async throws {
        var limits = limits
        if limits.count > 1 {
            // One after another, so that the project's own refuses before the shared one counts.
            try await RateLimitStore(database: database).take(limits)
            limits = .none
        }
        let handleHash = SecureHash.sha256(handle.reveal())
        // Beside an ID token, it may be any text that the client sent: nobody checked whose it is.
        let accessToken = credential.tokens.idToken == nil ? credential.tokens.accessToken : nil
        let new = NewPendingCredential(
            scope: scope,
            handleHash: handleHash,
            identity: credential.identity,
            idTokenHash: credential.tokens.idToken.map { SecureHash.sha256($0) } ?? [],
            accessTokenHash: accessToken.map { SecureHash.sha256($0) } ?? [],
            payload: try keyRing.seal(json: credential, for: Self.place(scope.project, handleHash)),
            limits: limits,
            now: now,
            expiresAt: expiresAt
        )
        if try await inserts.answer(to: new, for: nil) { return }
        // Together with others of the same address it exceeded the limit; alone it may still fit.
        if try await Self.insert([new], shared: batches, database) == [true] { return }
        try limits.check(passed: 0)
    }

    /// Stores several with one statement.
    ///
    /// - Returns: for each, whether its bucket had room.
    private static func insert(
        _ all: [NewPendingCredential],
        shared: Bool,
        _ database: PostgresClient
    ) async throws -> [Bool] {
        let now = all.map(\.now).max() ?? Date()
        let admitted = try await database.query(
            """
            WITH \(sql: RateLimits.taking(of: all.map(\.limits), shared: shared, now: now)),
            audit AS (
                INSERT INTO audit_log (project, recorded_at, tenant, provider, action, address_prefix,
                    \(sql: AuditOrigin.arrayNames))
                SELECT project, created_at, tenant, provider, \(AuditAction.conflictFound.rawValue),
                    address_prefix, \(sql: AuditOrigin.arrayNames)
                FROM unnest(\(all.map(\.scope.project.rawValue))::text[], \(all.map(\.now))::timestamptz[],
                    \(all.map(\.scope.tenant.rawValue))::text[], \(all.map(\.identity.provider.rawValue))::text[],
                    \(all.map(\.origin.addressPrefix))::text[], \(sql: AuditOrigin.arrays(of: all.map(\.origin))))
                    WITH ORDINALITY
                    n (project, created_at, tenant, provider, address_prefix, \(sql: AuditOrigin.arrayNames), number)
                JOIN admitted USING (number)
            ), kept AS (
            INSERT INTO pending_credentials (project, handle_hash, tenant, provider, subject, id_token_hash,
                access_token_hash, payload, created_at, expires_at)
            SELECT n.project, n.handle_hash, n.tenant, n.provider, n.subject, nullif(n.id_token_hash, ''),
                nullif(n.access_token_hash, ''), n.payload, n.created_at, n.expires_at
            FROM unnest(\(all.map(\.scope.project.rawValue))::text[], \(all.map(\.handleHash))::bytea[],
                \(all.map(\.scope.tenant.rawValue))::text[], \(all.map(\.identity.provider.rawValue))::text[],
                \(all.map(\.identity.subject))::text[], \(all.map(\.idTokenHash))::bytea[],
                \(all.map(\.accessTokenHash))::bytea[], \(all.map(\.payload))::bytea[],
                \(all.map(\.now))::timestamptz[], \(all.map(\.expiresAt))::timestamptz[]) WITH ORDINALITY
                n (project, handle_hash, tenant, provider, subject, id_token_hash, access_token_hash, payload, created_at,
                expires_at, number)
            JOIN admitted USING (number)
            )
            SELECT number FROM admitted
            """
        ) { row in Int(try row.next(Int64.self)) - 1 }
        var answers = [Bool](repeating: false, count: all.count)
        for index in admitted where answers.indices.contains(index) { answers[index] = true }
        return answers
    }

    /// Finds a pending credential; it stays until its first success, so failed attempts do not lose it.
    ///
    /// - Throws: ``ForeignPendingCredential``.
    package func find(_ key: Key, in scope: Scope, now: Date) async throws -> Pending? {
        let condition: SQL
        switch key {
        case .handle(let handle): condition = "handle_hash = \(SecureHash.sha256(handle))"
        case .handleHash(let hash): condition = "handle_hash = \(hash)"
        case .tokens(let idToken, let accessToken, let provider):
            let token: SQL
            if let idToken {
                token = "id_token_hash = \(SecureHash.sha256(idToken))"
            } else if let accessToken {
                token = "access_token_hash = \(SecureHash.sha256(accessToken))"
            } else {
                return nil
            }
            condition = "\(sql: token) AND provider = \(provider.rawValue)"
        }
        let rows = try await database.query(
            """
            SELECT handle_hash, payload, provider, subject, expires_at, redeemed_by, redeemed_at FROM pending_credentials
            WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue) AND expires_at > \(now)
                AND \(sql: condition)
            ORDER BY created_at DESC LIMIT 1
            """
        ) { row in
            (
                handleHash: try row.next([UInt8].self), payload: try row.next([UInt8].self),
                provider: try row.next(String.self), subject: try row.next(String.self),
                expiresAt: try row.next(Date.self), redeemedBy: try row.next(String?.self),
                redeemedAt: try row.next(Date?.self)
            )
        }
        guard let row = rows.first else { return nil }
        let place = Self.place(scope.project, row.handleHash)
        // It must be sealed for this row and have the row's identity (T-A8).
        guard let credential = try? keyRing.openJSON(row.payload, for: place) as FederatedCredential,
            credential.identity.provider.rawValue == row.provider, credential.identity.subject == row.subject
        else { throw ForeignPendingCredential() }
        var pending = Pending(handleHash: row.handleHash, credential: credential, expiresAt: row.expiresAt)
        if let account = row.redeemedBy, let at = row.redeemedAt { pending.redeemed = (AccountID(account), at) }
        return pending
    }

    private static func place(_ project: ProjectID, _ handleHash: [UInt8]) -> String {
        "pending_credentials/\(project)/\(handleHash.lowercaseHex)"
    }
}

struct NewPendingCredential: Sendable {
    var scope: Scope
    var handleHash: [UInt8]
    var identity: FederatedIdentity
    /// Empty for none, as is ``accessTokenHash``.
    var idTokenHash: [UInt8]
    var accessTokenHash: [UInt8]
    var payload: [UInt8]
    /// One bucket at most.
    var limits: RateLimits
    var now: Date
    var expiresAt: Date
    let origin = RequestContext.current.origin
}

/// A pending credential's row contains a value that was sealed for another row or identity, or under a missing key.
package struct ForeignPendingCredential: Error {}
