import Foundation
import IdentityCore

/// Holds the session, renews its tokens, and keeps the store in step.
///
/// All changes happen under a lock that tasks share in this process, and processes through the store's lock file. A
/// refresh reads the store first, because another process may have refreshed. It presents the refresh token that is
/// stored, never one that is only in memory: the service accepts a token until a minute after its successor was first
/// used, so a store that cannot be written falls behind without losing the session.
final class SessionKeeper: Sendable {
    struct State: Sendable {
        var session: Session?
        /// The record that was last read or written.
        ///
        /// A different one in the store is another process's change.
        var stored: Session?
        var storageError: SessionStorageError?
        var refresh: Task<Result<Session, AuthError>, Never>?
        var watchers: [UUID: AsyncStream<Session?>.Continuation] = [:]
    }

    let state = Protected(State())
    let mutex = AsyncMutex()
    let storage: any SessionStorage
    private let project: String
    private let api: API

    init(storage: any SessionStorage, project: String, api: API) throws(SessionStorageError) {
        self.storage = storage
        self.project = project
        self.api = api
        let session = try read()
        state.withLock {
            $0.session = session
            $0.stored = session
        }
    }

    var session: Session? { state.withLock { $0.session } }

    // MARK: Changes

    /// Signs a user in, or replaces the user's tokens.
    ///
    /// If the store cannot be written, the session is in memory only.
    func adopt(_ session: Session) async {
        let result = await exclusively { () throws(AuthError) in self.keep(session) }
        if case .failure(.storage(let error)) = result {
            state.withLock {
                $0.session = session
                $0.storageError = error
            }
            notify()
        }
    }

    /// Stores a newer profile of the signed-in user.
    func update(_ profile: Profile) async throws(AuthError) {
        try await exclusively { () throws(AuthError) in
            try self.catchUp()
            guard var session = self.session, session.profile.uid == profile.uid else { throw .notSignedIn }
            guard session.profile != profile else { return }
            session.profile = profile
            self.keep(session)
        }.get()
    }

    /// Signs the user out on this device.
    /// - Throws: ``AuthError/storage(_:)`` if the record cannot be removed; the user is then still signed in.
    func end() async throws(AuthError) {
        try await exclusively { () throws(AuthError) in try self.forget() }.get()
    }

    /// Takes over what another process stored.
    func synchronize() async throws(AuthError) {
        _ = try await exclusively { () throws(AuthError) in try self.catchUp() }.get()
    }

    // MARK: Refresh

    /// Returns a session whose ID token is valid for at least five minutes, or one that is newer than the present one.
    ///
    /// Joins a refresh that is under way. While the service is unavailable, a token that is still valid will do, unless
    /// `isForced`.
    func refreshed(isForced: Bool) async throws(AuthError) -> Session {
        let (session, refresh) = state.withLock { state in
            guard let session = state.session else {
                return (nil, nil) as (Session?, Task<Result<Session, AuthError>, Never>?)
            }
            if !isForced, session.isValid(for: Session.renewal) { return (session, nil) }
            let refresh = state.refresh ?? Task { await self.refresh(session) }
            state.refresh = refresh
            return (session, refresh)
        }
        guard let session else { throw .notSignedIn }
        guard let result = await refresh?.value else { return session }
        switch result {
        case .failure(.unavailable), .failure(.storage):
            guard !isForced, let session = self.session, session.isValid(for: .seconds(30)) else { fallthrough }
            return session
        default: return try result.get()
        }
    }

    private func refresh(_ old: Session) async -> Result<Session, AuthError> {
        let result = await exclusively { () throws(AuthError) in
            try self.catchUp()
            guard let session = self.session else { throw .notSignedIn }
            if session.idToken != old.idToken, session.isValid(for: Session.renewal) { return session }
            return try await self.renew(session)
        }
        state.withLock { $0.refresh = nil }
        return result
    }

    /// Exchanges the refresh token.
    ///
    /// Only the service's definite answer to the stored token ends the session.
    private func renew(_ current: Session) async throws(AuthError) -> Session {
        var current = current
        var attempt = 1
        while true {
            let sentAt = Moment.now
            do throws(AuthError) {
                let response = try await api.refresh(presentedToken(of: current))
                current.refreshToken = response.refresh_token
                current.idToken = response.id_token
                current.lifetime = Int(response.expires_in) ?? 0
                current.receivedAt = sentAt
                keep(current)
                return current
            } catch {
                switch error {
                case .refused(let refusal) where AuthErrorCode.endsSession.contains(refusal.code):
                    // A program that knows no lock may have replaced the refused token.
                    guard try catchUp(), let session, attempt < Self.attempts else {
                        try forget()
                        throw .sessionEnded(refusal)
                    }
                    current = session
                case .unavailable(let failure)
                where attempt < Self.attempts && failure.retryAfter ?? .zero < .seconds(2):
                    let pause = Duration.milliseconds(50 << attempt) * Double.random(in: 0.5...1)
                    try? await Task.sleep(for: max(pause, failure.retryAfter ?? .zero))
                default:
                    throw error
                }
                attempt += 1
            }
        }
    }

    private static let attempts = 3

    private func presentedToken(of session: Session) -> String {
        guard let stored = state.withLock({ $0.stored }), stored.id == session.id else { return session.refreshToken }
        return stored.refreshToken
    }

    // MARK: Store

    private func read() throws(SessionStorageError) -> Session? {
        guard let data = try storage.read() else { return nil }
        return try SessionRecord.decode(data, project: project)
    }

    private func keep(_ session: Session) {
        let result = Result { () throws(SessionStorageError) in
            try storage.write(SessionRecord(project: project, session: session).encoded())
        }
        state.withLock {
            $0.session = session
            switch result {
            case .success:
                $0.stored = session
                $0.storageError = nil
            case .failure(let error):
                $0.storageError = error
            }
        }
        notify()
    }

    private func forget() throws(AuthError) {
        do { try storage.remove() } catch { throw .storage(error) }
        state.withLock {
            $0.session = nil
            $0.stored = nil
            $0.storageError = nil
        }
        notify()
    }

    /// Takes over another process's change, and returns whether there was one.
    ///
    /// A sign-in that could not be stored stays. Without knowing what is stored, nothing may be refreshed or written:
    /// the token in memory may be one whose reuse ends the session.
    @discardableResult
    private func catchUp() throws(AuthError) -> Bool {
        let found: Session?
        do { found = try read() } catch {
            state.withLock { $0.storageError = error }
            throw .storage(error)
        }
        let isChanged = state.withLock { state in
            guard found != state.stored else { return false }
            let isStored = state.session == nil || state.session?.id == state.stored?.id
            state.stored = found
            if isStored { state.session = found }
            return isStored
        }
        if isChanged { notify() }
        return isChanged
    }
}
