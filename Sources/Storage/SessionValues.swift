package import Linking
package import Sessions

/// A session to insert, which begins with evidence.
package struct NewSession: Sendable {
    package let id: SessionID
    package let secretHash: [UInt8]
    package let evidence: Evidence
    package let signInProvider: ProviderID
    /// Claims of the provider or of a custom token that live as long as the session: JSON objects as text.
    package var claims: String?
    package let signInAttributes: String?
    package let userAgent: String?
    package let addressPrefix: String?
    /// Of the sign-in, for the audit log.
    let origin: AuditOrigin

    package init(
        id: SessionID,
        secretHash: [UInt8],
        evidence: Evidence,
        signInProvider: ProviderID,
        claims: String? = nil,
        signInAttributes: String? = nil,
        userAgent: String? = nil,
        addressPrefix: String? = nil
    ) {
        self.id = id
        self.secretHash = secretHash
        self.evidence = evidence
        self.signInProvider = signInProvider
        self.claims = claims
        self.signInAttributes = signInAttributes
        self.userAgent = userAgent
        self.addressPrefix = addressPrefix
        origin = .current
    }

    /// Seconds since 1970.
    package var authTime: Int64 { evidence.provedAt }

    package var secondFactor: IDTokenClaims.SecondFactor? { evidence.secondFactor }

    /// The session as it was written: never older than its account's `validSince`.
    package func written(validSince: Int64) -> StoredSession {
        StoredSession(
            id: id,
            authTime: max(authTime, validSince),
            signInProvider: signInProvider,
            claims: claims,
            signInAttributes: signInAttributes,
            secondFactor: secondFactor,
            revoked: false
        )
    }
}

/// A session as it stands.
///
/// Only `Storage` makes one, from a row or from what it is about to write; tokens say nothing else.
package struct StoredSession: Sendable, Hashable {
    package internal(set) var id: SessionID
    package internal(set) var authTime: Int64
    package internal(set) var signInProvider: ProviderID
    package internal(set) var claims: String?
    package internal(set) var signInAttributes: String?
    package internal(set) var secondFactor: IDTokenClaims.SecondFactor?
    package internal(set) var revoked: Bool
}

/// A session that goes on with a new secret.
///
/// Its `auth_time` and second factor stay as they are, unless evidence says otherwise.
package struct ContinuedSession: Sendable {
    package let session: StoredSession
    package let secretHash: [UInt8]
    package private(set) var signInProvider: ProviderID
    package let claims: String?
    package let signInAttributes: String?
    /// Moves `auth_time`: the caller signed in again.
    private(set) var evidence: Evidence?
    package private(set) var secondFactor: IDTokenClaims.SecondFactor?

    /// - Parameter method: that was shown in between, with its attributes, in place of what the session signed in with; the
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

    /// The caller signed in again: `auth_time` moves, the second factor stays.
    ///
    /// - Parameter provider: by which; nil for the one that the session names already.
    package func signedInAgain(_ evidence: Evidence, with provider: ProviderID? = nil) -> ContinuedSession {
        var session = self
        session.evidence = evidence
        session.signInProvider = provider ?? signInProvider
        return session
    }

    /// A second factor was proved: `auth_time` stays, which says when the first one was.
    package func proving(_ evidence: Evidence) -> ContinuedSession {
        var session = self
        session.secondFactor = evidence.secondFactor ?? secondFactor
        return session
    }

    /// Without the second factor of an enrolment that is gone.
    package func losing(_ enrollment: String) -> ContinuedSession {
        guard secondFactor?.enrollment == enrollment else { return self }
        var session = self
        session.secondFactor = nil
        return session
    }

    /// Seconds since 1970.
    package var authTime: Int64 { max(session.authTime, evidence?.provedAt ?? session.authTime) }

    /// The session as it was written.
    package func written(validSince: Int64) -> StoredSession {
        var written = session
        if evidence != nil { written.authTime = max(authTime, validSince) }
        written.signInProvider = signInProvider
        written.claims = claims
        written.signInAttributes = signInAttributes
        written.secondFactor = secondFactor
        return written
    }
}

/// What a write does with the caller's session.
package enum SessionEffect: Sendable {
    /// A new one.
    case open(NewSession)
    /// The session goes on with a new secret. The old secret stays good until a minute after the new one was first used,
    /// unless `retiresOldSecret`.
    case renew(ContinuedSession, retiresOldSecret: Bool)
    case none

    var id: SessionID? {
        switch self {
        case .open(let session): session.id
        case .renew(let session, _): session.session.id
        case .none: nil
        }
    }

    /// When the session signed in, in seconds since 1970; nil without one.
    var authTime: Int64? {
        switch self {
        case .open(let session): session.authTime
        case .renew(let session, _): session.authTime
        case .none: nil
        }
    }

    /// What was proved just now.
    var evidence: Evidence? {
        switch self {
        case .open(let session): session.evidence
        case .renew(let session, _): session.evidence
        case .none: nil
        }
    }

    /// The session as it was written, for the tokens that tell of it; nil without one.
    package func written(validSince: Int64) -> StoredSession? {
        switch self {
        case .open(let session): session.written(validSince: validSince)
        case .renew(let session, _): session.written(validSince: validSince)
        case .none: nil
        }
    }
}
