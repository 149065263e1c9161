public import Foundation
import IdentityCore

/// Verifies the service's ID tokens and session cookies with its published keys.
///
/// ```swift
/// let verifier = TokenVerifier(url: URL(string: "https://auth.example.com")!, projectID: "my-project")
/// let token = try await verifier.verify(idToken: text)
/// ```
///
/// It fetches keys when the first token arrives, renews them in the background, and keeps them while the service is
/// down. Make one for each project, and share it: it is safe to use from any task.
public final class TokenVerifier: Sendable {
    /// Whose tokens are accepted.
    public enum Tenants: Sendable, Hashable {
        /// Accounts of the project itself.
        case none
        /// Accounts of one tenant.
        case only(String)
        /// Accounts of the project and of every tenant. Check ``VerifiedToken/tenantID``.
        case all
    }

    private let projectID: String
    private let issuers: [String]
    private let cookieIssuer: String
    private let algorithms: Set<SignatureAlgorithm>
    private let tenants: Tenants
    private let revocations: RevocationFeed?
    private let idTokenKeys: KeySource
    private let cookieKeys: KeySource
    private let cache: TokenCache
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - url: the service, as this process reaches it.
    ///   - projectID: the project's ID, which is the tokens' `aud`.
    ///   - issuers: of ID tokens; by default Firebase's, and `{url}/{projectID}` (`identity.tokenIssuer`).
    ///   - tenants: whose tokens are accepted.
    ///   - algorithms: which algorithms are accepted.
    ///   - revocations: which revoked tokens are refused before they expire; nil for none.
    ///   - maximumKeyAge: how long keys are used while the service is down. A revoked signing key is accepted for as
    ///     long, if the service cannot be reached.
    ///   - cacheSize: how many verified tokens are remembered.
    public convenience init(
        url: URL,
        projectID: String,
        issuers: [String]? = nil,
        tenants: Tenants = .none,
        algorithms: Set<SignatureAlgorithm> = [.rs256, .es256],
        revocations: RevocationFeed? = nil,
        maximumKeyAge: Duration = .seconds(7200),
        cacheSize: Int = 4096
    ) {
        self.init(
            url: url,
            projectID: projectID,
            issuers: issuers,
            tenants: tenants,
            algorithms: algorithms,
            revocations: revocations,
            maximumKeyAge: maximumKeyAge,
            cacheSize: cacheSize,
            now: { Date() },
            uptime: { .now }
        )
    }

    /// - Parameters:
    ///   - now: the wall clock, to which the tokens' times are compared.
    ///   - uptime: the clock of the keys' ages.
    package init(
        url: URL,
        projectID: String,
        issuers: [String]? = nil,
        tenants: Tenants = .none,
        algorithms: Set<SignatureAlgorithm> = [.rs256, .es256],
        revocations: RevocationFeed? = nil,
        maximumKeyAge: Duration = .seconds(7200),
        cacheSize: Int = 4096,
        now: @escaping @Sendable () -> Date,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.projectID = projectID
        self.issuers =
            issuers ?? [
                "https://securetoken.google.com/\(projectID)", url.appendingPathComponent(projectID).absoluteString,
            ]
        self.cookieIssuer = "https://session.firebase.google.com/\(projectID)"
        self.algorithms = algorithms
        self.tenants = tenants
        self.revocations = revocations
        let paths = [
            "service_accounts/v1/jwk/securetoken@system.gserviceaccount.com", "v1/sessionCookiePublicKeys",
        ]
        let times = KeySource.Times(maximum: maximumKeyAge)
        let sources = paths.map { KeySource(url: url.appendingPathComponent($0), times: times, now: uptime) }
        self.idTokenKeys = sources[0]
        self.cookieKeys = sources[1]
        self.cache = TokenCache(capacity: cacheSize)
        self.now = now
    }

    /// Verifies an ID token, as an app sends it after `Bearer`.
    public func verify(idToken: String) async throws(TokenError) -> VerifiedToken {
        try await verify(idToken, keys: idTokenKeys, issuers: issuers)
    }

    /// Verifies a session cookie of `createSessionCookie`.
    public func verify(sessionCookie: String) async throws(TokenError) -> VerifiedToken {
        try await verify(sessionCookie, keys: cookieKeys, issuers: [cookieIssuer])
    }

    private func verify(
        _ text: String,
        keys: KeySource,
        issuers: [String]
    ) async throws(TokenError) -> VerifiedToken {
        if let entry = cache.entry(for: text), issuers.contains(entry.issuer), keys.presentKey(entry.keyID) != nil {
            try check(entry.token)
            return entry.token
        }
        let jwt = try SignedJWT(text, algorithms: algorithms)
        let key = if let key = keys.presentKey(jwt.keyID) { key } else { try await keys.key(jwt.keyID) }
        guard key.algorithm == jwt.algorithm else { throw .algorithm }
        guard key.isValidSignature(jwt.signature, for: jwt.input) else { throw .signature }
        guard let claims = jwt.claims() else { throw .malformed }
        let token = try VerifiedToken(claims)
        guard let issuer = claims["iss"]?.stringValue, issuers.contains(issuer) else { throw .issuer }
        guard claims["aud"]?.stringValue == projectID else { throw .audience }
        try check(token)
        cache.insert(TokenCache.Entry(token: token, issuer: issuer, keyID: jwt.keyID), for: text)
        return token
    }

    /// Checks what can change after a token was verified.
    private func check(_ token: VerifiedToken) throws(TokenError) {
        let now = now()
        guard token.expiresAt > now.addingTimeInterval(-Self.skew) else { throw .expired }
        let latest = now.addingTimeInterval(Self.skew)
        guard token.issuedAt <= latest, token.authTime <= latest else { throw .notYetValid }
        switch tenants {
        case .none: guard token.tenantID == nil else { throw .tenant }
        case .only(let tenant): guard token.tenantID == tenant else { throw .tenant }
        case .all: break
        }
        if let revocations, revocations.isRevoked(token) { throw .revoked }
    }

    /// How far the clocks of two machines may differ, in seconds.
    private static let skew: TimeInterval = 60
}
