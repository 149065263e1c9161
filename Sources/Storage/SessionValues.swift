package import Domain
import Requests
package import Sessions

/// A session to insert, which starts with evidence.
package struct NewSession: Sendable {
    package let id: SessionID
    package let secretHash: [UInt8]
    package let evidence: Evidence
    package let signInProvider: ProviderID
    /// Claims of the provider or of a custom token that last as long as the session, as JSON text.
    package var claims: String?
    package let signInAttributes: String?
    package let userAgent: String?
    package let addressPrefix: String?
    let pace: SignInPace
    /// The origin of the sign-in, for the audit log.
    let origin: AuditOrigin

    package init(
        id: SessionID,
        secretHash: [UInt8],
        evidence: Evidence,
        signInProvider: ProviderID,
        claims: String? = nil,
        signInAttributes: String? = nil,
        userAgent: String? = nil,
        addressPrefix: String? = nil,
        pace: SignInPace = .unlimited
    ) {
        self.id = id
        self.secretHash = secretHash
        self.evidence = evidence
        self.signInProvider = signInProvider
        self.claims = claims
        self.signInAttributes = signInAttributes
        self.userAgent = userAgent
        self.addressPrefix = addressPrefix
        self.pace = pace
        origin = RequestContext.current.origin
    }

    /// Seconds since 1970.
    package var authTime: Int64 { evidence.provedAt }

    package var secondFactor: IDTokenClaims.SecondFactor? { evidence.secondFactor }

    /// The session as written: never older than its account's `validSince`.
    package func written(validSince: Int64) -> StoredSession {
        StoredSession(
            id: id,
            authTime: max(authTime, validSince),
            signInProvider: signInProvider,
            claims: claims,
            signInAttributes: signInAttributes,
            secondFactor: secondFactor,
            generation: 0,
            client: nil,
            revoked: false
        )
    }
}

/// A stored session.
///
/// Only `Storage` creates one, from a row or from what it is about to write, so tokens always match the row.
package struct StoredSession: Sendable, Hashable {
    package internal(set) var id: SessionID
    package internal(set) var authTime: Int64
    package internal(set) var signInProvider: ProviderID
    package internal(set) var claims: String?
    package internal(set) var signInAttributes: String?
    package internal(set) var secondFactor: IDTokenClaims.SecondFactor?
    /// How often its refresh token was replaced.
    package internal(set) var generation: Int
    /// The application that has it; nil for one of the project's own apps.
    package internal(set) var client: String?
    package internal(set) var revoked: Bool
}

/// A session that continues with a new secret.
///
/// Its `auth_time` and second factor stay the same without new evidence.
package struct ContinuedSession: Sendable {
    package let session: StoredSession
    package let secretHash: [UInt8]
    package private(set) var signInProvider: ProviderID
    package var claims: String?
    package let signInAttributes: String?
    /// The caller signed in again, which changes `auth_time`.
    private(set) var evidence: Evidence?
    package private(set) var secondFactor: IDTokenClaims.SecondFactor?

    /// - Parameter method: a method proved in between, with its attributes, that replaces the session's sign-in method;
    ///   the
    ///   session's claims end with that.
    package init(
        _ session: StoredSession,
        secretHash: [UInt8],
        method: (provider: ProviderID, attributes: String?)? = nil
    ) {
        self.session = session
        self.secretHash = secretHash
        signInProvider = method?.provider ?? session.signInProvider
        claims = method == nil ? session.claims : nil
        signInAttributes = method.map(\.attributes) ?? session.signInAttributes
        secondFactor = session.secondFactor
    }

    /// The caller signed in again: `auth_time` changes, the second factor stays.
    ///
    /// - Parameter provider: the provider; nil for the session's current one.
    package func signedInAgain(_ evidence: Evidence, with provider: ProviderID? = nil) -> ContinuedSession {
        var session = self
        session.evidence = evidence
        session.signInProvider = provider ?? signInProvider
        return session
    }

    /// A second factor was proved: `auth_time` stays that of the first factor.
    package func proving(_ evidence: Evidence) -> ContinuedSession {
        var session = self
        session.secondFactor = evidence.secondFactor ?? secondFactor
        return session
    }

    /// Without the second factor of a removed enrollment.
    package func losing(_ enrollment: String) -> ContinuedSession {
        guard secondFactor?.enrollment == enrollment else { return self }
        var session = self
        session.secondFactor = nil
        return session
    }

    /// Seconds since 1970.
    package var authTime: Int64 { max(session.authTime, evidence?.provedAt ?? session.authTime) }

    /// The session as written.
    ///
    /// - Parameter endsOthers: `validSince` is later than theirs.
    package func written(validSince: Int64, endsOthers: Bool) -> StoredSession {
        var written = session
        if evidence != nil || endsOthers { written.authTime = max(authTime, validSince) }
        written.signInProvider = signInProvider
        written.claims = claims
        written.signInAttributes = signInAttributes
        written.secondFactor = secondFactor
        written.generation += 1
        return written
    }
}

/// What a write does with the caller's session.
package enum SessionEffect: Sendable {
    /// Opens a new session.
    case open(NewSession)
    /// The session continues with a new secret.
    ///
    /// The old secret stays valid until a minute after the new one is first used, unless `retiresOldSecret`.
    case renew(ContinuedSession, retiresOldSecret: Bool)
    case none

    var id: SessionID? {
        switch self {
        case .open(let session): session.id
        case .renew(let session, _): session.session.id
        case .none: nil
        }
    }

    /// The session that goes on; nil for a new one.
    var continued: SessionID? {
        if case .renew(let session, _) = self { session.session.id } else { nil }
    }

    /// When the session signed in, in seconds since 1970; nil without a session.
    var authTime: Int64? {
        switch self {
        case .open(let session): session.authTime
        case .renew(let session, _): session.authTime
        case .none: nil
        }
    }

    /// The new evidence.
    var evidence: Evidence? {
        switch self {
        case .open(let session): session.evidence
        case .renew(let session, _): session.evidence
        case .none: nil
        }
    }

    /// The session as written, for tokens; nil without a session.
    package func written(validSince: Int64) -> StoredSession? {
        switch self {
        case .open(let session): session.written(validSince: validSince)
        case .renew(let session, let endsOthers): session.written(validSince: validSince, endsOthers: endsOthers)
        case .none: nil
        }
    }
}
