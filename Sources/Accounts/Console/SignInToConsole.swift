import struct Foundation.Date
import Domain
import Passwords
package import Projects
import Requests
package import Secrets
package import Storage
import Text

extension AccountsService { package var signInToConsole: SignInToConsole { SignInToConsole(service: self) } }

/// Sessions of the console's admins; each starts with a password and an authenticator app's code.
package struct SignInToConsole: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var email: String
        package var password: Secret
        package var code: String
        /// The session that the new one replaces, if it is the same admin's.
        package var handle: Secret?
        package var attempt: Attempt

        package init(email: String, password: Secret, code: String, handle: Secret?, attempt: Attempt) {
            (self.email, self.password, self.code) = (email, password, code)
            (self.handle, self.attempt) = (handle, attempt)
        }
    }

    /// Where an attempt comes from, which decides what limits it.
    package enum Attempt: Sendable {
        /// The sign-in page.
        ///
        /// - Parameters:
        ///   - browser: ``ConsoleEntrance/browser`` of an earlier sign-in; nil without one.
        ///   - subscriber: the address that rate limits count by; nil if unknown.
        case page(browser: String?, subscriber: String?)
        /// A live session, which proves more than an email does.
        case session(Secret)

        fileprivate var hashShare: HashShare {
            if case .page(_, let subscriber) = self { .console(network: subscriber) } else { .service }
        }
    }

    /// Opens a session.
    ///
    /// Whatever is wrong, the queries, the computation and the response are the same.
    ///
    /// - Returns: with its handle, a new one each time (threats.md, T-D9).
    /// - Throws: ``ConsoleError/wrongCredentials``; ``Storage/RateLimitReached``.
    package func callAsFunction(_ request: Request) async throws -> ConsoleEntrance {
        // No admin has the empty email.
        let email = EmailAddress(request.email)?.canonical ?? ""
        let limits = limits(request.attempt, email)
        let candidate = try await service.stores.console.candidate(email, within: limits, now: service.now())
        let secrets = candidate?.secrets
        let nothing = [UInt8](repeating: 0, count: 64)
        let matches = try await verify(
            request.password,
            secrets?.password,
            secrets?.signerKey ?? nothing,
            for: request.attempt.hashShare
        )
        let step = TOTP(secret: secrets?.app ?? nothing).step(
            of: TypedCode.plain(request.code),
            at: service.seconds,
            adjacent: 1,
            after: candidate?.lastStep ?? 0
        )
        guard let candidate, matches, let step else { throw ConsoleError.wrongCredentials }
        let handle = service.random.handle()
        let isOpen = try await AuditOrigin.acting(as: .admin(candidate.admin.id)) {
            try await service.stores.console.open(
                handle,
                for: candidate,
                step: step,
                replacing: request.handle?.reveal(),
                giving: limits,
                now: service.now()
            )
        }
        guard isOpen else { throw ConsoleError.wrongCredentials }
        return try ConsoleEntrance(handle, email, service)
    }

    /// Strangers who know an admin's email can use up its limit, but not that of a session or a browser of the admin
    /// (threats.md, T-E13).
    private func limits(_ attempt: Attempt, _ email: String) -> RateLimits {
        switch attempt {
        case .session(let handle):
            return RateLimits(ofDeployment: [.consoleTries: ["session", handle.reveal()]], now: service.now())
        case .page(let browser, let subscriber):
            if let text = browser,
                let known = KnownBrowser(text, of: email, at: service.seconds, openedBy: service.keyRing)
            {
                return RateLimits(ofDeployment: [.consoleTries: ["browser", known.id]], now: service.now())
            }
            return RateLimits(
                ofDeployment: [.consoleTriesPerAddress: [subscriber ?? ""], .consoleTries: [email]],
                now: service.now()
            )
        }
    }

    private func verify(
        _ password: Secret,
        _ stored: PasswordHash?,
        _ signerKey: [UInt8],
        for share: HashShare
    ) async throws -> Bool {
        // A text that is too long for a password is not hashed in full, for any email.
        let tried = password.reveal().utf16.count <= PasswordPolicy.lengths.upperBound ? password : Secret("")
        do {
            return try await service.passwords.match(tried, against: stored, signerKey: signerKey, for: share) != nil
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
    }

    /// The session of a handle; nil if there is none.
    package func session(_ handle: Secret) async throws -> ConsoleStore.Session? {
        guard handle.reveal().utf8.count == Self.handleLength else { return nil }
        return try await service.stores.console.session(handle.reveal(), now: service.now())
    }

    private static let handleLength = 43

    package func signOut(_ handle: Secret) async throws {
        try await service.stores.console.end(handle.reveal())
    }

    // MARK: What is done with a session

    /// Seconds for which a sensitive action does not ask for the password and code again.
    package static let recency = 900.0

    /// Whether the password and a code were entered recently.
    package func isRecent(_ session: ConsoleStore.Session) -> Bool {
        session.authenticatedAt.addingTimeInterval(Self.recency) > service.now()
    }

    /// Whether the admin has a scope in a project now.
    package func allows(_ scope: AdminScope, in project: Project, _ session: ConsoleStore.Session) -> Bool {
        session.admin.allows(scope, in: project.id, now: service.seconds)
    }
}
