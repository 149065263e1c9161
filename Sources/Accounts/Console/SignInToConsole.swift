import struct Foundation.Date
import Linking
import Passwords
package import Projects
package import Secrets
package import Storage

/// The sessions of people at the console: each begins with a password and the code of an app.
package struct SignInToConsole: Sendable {
    let parts: Parts

    package struct Request: Sendable {
        package var email: String
        package var password: Secret
        package var code: String
        /// Of the session that the new one takes the place of, if it is the same person's.
        package var handle: Secret?
        /// Whom limits count as one; nil when it is not known.
        package var subscriber: String?

        package init(email: String, password: Secret, code: String, handle: Secret?, subscriber: String?) {
            (self.email, self.password, self.code) = (email, password, code)
            (self.handle, self.subscriber) = (handle, subscriber)
        }
    }

    /// Opens a session.
    ///
    /// Whatever is wrong, the same is asked of the database, the same is computed, and the same is said.
    ///
    /// - Returns: its handle, a new one each time (threats.md, T-D9).
    /// - Throws: ``ConsoleError/wrongCredentials``; ``Storage/RateLimitReached``.
    package func callAsFunction(_ request: Request) async throws -> Secret {
        // Nobody has the empty address.
        let email = EmailAddress(request.email)?.canonical ?? ""
        let limits = RateLimits(
            ofDeployment: [.consoleTriesPerAddress: [request.subscriber ?? ""], .consoleTries: [email]],
            now: parts.now()
        )
        let candidate = try await parts.stores.console.candidate(email, within: limits, now: parts.now())
        let secrets = candidate?.secrets
        let nothing = [UInt8](repeating: 0, count: 64)
        let matches = try await verify(request.password, secrets?.password, secrets?.signerKey ?? nothing)
        let step = TOTP(secret: secrets?.app ?? nothing).step(
            of: request.code.filter { $0 != " " },
            at: parts.seconds,
            adjacent: 1,
            after: candidate?.lastStep ?? 0
        )
        guard let candidate, matches, let step else { throw ConsoleError.wrongCredentials }
        let handle = parts.random.handle()
        let isOpen = try await AuditOrigin.acting(as: .admin(candidate.admin.id)) {
            try await parts.stores.console.open(
                handle,
                for: candidate,
                step: step,
                replacing: request.handle?.reveal(),
                giving: limits,
                now: parts.now()
            )
        }
        guard isOpen else { throw ConsoleError.wrongCredentials }
        return Secret(handle)
    }

    private func verify(_ password: Secret, _ stored: PasswordHash?, _ signerKey: [UInt8]) async throws -> Bool {
        // What cannot be a password is not hashed in full, whoever it is said to be of.
        let tried = password.reveal().utf16.count <= PasswordPolicy.lengths.upperBound ? password : Secret("")
        do {
            return try await parts.passwords.verify(tried, against: stored, signerKey: signerKey)
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
    }

    /// Who is signed in with a handle; nil for nobody.
    package func session(_ handle: Secret) async throws -> ConsoleStore.Session? {
        guard handle.reveal().utf8.count == Self.handleLength else { return nil }
        return try await parts.stores.console.session(handle.reveal(), now: parts.now())
    }

    private static let handleLength = 43

    package func signOut(_ handle: Secret) async throws {
        try await parts.stores.console.end(handle.reveal())
    }

    // MARK: What is done with a session

    /// Seconds for which password and code are not asked for again before something grave.
    package static let recency = 900.0

    /// Whether password and code were proved a short while ago.
    package func isRecent(_ session: ConsoleStore.Session) -> Bool {
        session.authenticatedAt.addingTimeInterval(Self.recency) > parts.now()
    }

    /// Whether the person may do something in a project now.
    package func allows(_ scope: AdminScope, in project: Project, _ session: ConsoleStore.Session) -> Bool {
        session.admin.allows(scope, in: project.id, now: parts.seconds)
    }
}
