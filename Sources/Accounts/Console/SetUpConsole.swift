import Foundation
import Passwords
import Projects
import Requests
package import Secrets
import Storage
import Text

extension AccountsService { package var setUpConsole: SetUpConsole { SetUpConsole(service: self) } }

/// Lets an admin with a setup code set a password and an authenticator app, and signs them in to the console.
package struct SetUpConsole: Sendable {
    let service: AccountsService

    /// The minimum number of characters of a password.
    package static let shortestPassword = 12

    /// An authenticator app that is being enrolled.
    package struct Enrollment: Sendable {
        package var email: String
        /// In base 32, for the authenticator app.
        package var secret: String
        /// The sealed state with which the setup continues.
        package var sealed: String

        /// The URI for authenticator apps, as in a QR code.
        package var uri: String {
            let label = PercentEncoding.encode(email, keeping: .unreserved + "@")
            return "otpauth://totp/Identity:\(label)?secret=\(secret)&issuer=Identity"
        }
    }

    /// The state in a setup form, sealed and bound to its setup code.
    private struct Pending: Codable {
        /// The lifetime in seconds.
        static let lifetime: Int64 = 3_600

        var codeHash: Data
        var app: Data
        /// Seconds since 1970.
        var startedAt: Int64
    }

    /// - Parameter subscriber: the address that rate limits count by; nil if unknown.
    /// - Throws: ``ConsoleError/invalidSetUpCode``; ``Storage/RateLimitReached``.
    package func begin(_ code: Secret, subscriber: String?) async throws -> Enrollment {
        let invitation = try await invitation(code, subscriber)
        return try enrollment(
            Pending(
                codeHash: Data(SecureHash.sha256(code.reveal())),
                app: Data(service.random.bytes(TOTP.secretLength)),
                startedAt: service.seconds
            ),
            invitation
        )
    }

    /// The same enrollment again after an error, because the app already has its secret.
    package func goOn(_ code: Secret, _ sealed: String, subscriber: String?) async throws -> Enrollment {
        let pending = try pending(sealed, of: code)
        return try enrollment(pending, try await invitation(code, subscriber))
    }

    /// Stores the password and the app, and opens a session.
    ///
    /// - Throws: ``ConsoleError``; ``Storage/RateLimitReached``.
    package func finish(
        _ code: Secret,
        _ sealed: String,
        password: Secret,
        appCode: String,
        subscriber: String?
    ) async throws -> ConsoleEntrance {
        let pending = try pending(sealed, of: code)
        guard password.reveal().count >= Self.shortestPassword else { throw ConsoleError.passwordTooShort }
        guard password.reveal().utf16.count <= PasswordPolicy.lengths.upperBound else {
            throw ConsoleError.passwordTooLong
        }
        let step = TOTP(secret: [UInt8](pending.app)).step(
            of: TypedCode.plain(appCode),
            at: service.seconds,
            adjacent: 1,
            after: 0
        )
        guard let step else { throw ConsoleError.wrongCode }
        let invitation = try await invitation(code, subscriber)
        let signerKey = service.random.bytes(64)
        let secrets = ConsoleSecrets(
            password: try await hash(password, signerKey, for: .console(network: subscriber)),
            signerKey: signerKey,
            app: [UInt8](pending.app)
        )
        let handle = service.random.handle()
        let isDone = try await AuditOrigin.acting(as: .admin(invitation.admin)) {
            try await service.stores.console.setUp(
                invitation,
                code: code.reveal(),
                secrets: secrets,
                step: step,
                handle: handle,
                giving: limits(subscriber),
                now: service.now()
            )
        }
        guard isDone else { throw ConsoleError.invalidSetUpCode }
        return try ConsoleEntrance(handle, invitation.email, service)
    }

    private func invitation(_ code: Secret, _ subscriber: String?) async throws -> ConsoleStore.Invitation {
        let found = try await service.stores.console.invitation(
            code.reveal(),
            within: limits(subscriber),
            now: service.now()
        )
        guard let found else { throw ConsoleError.invalidSetUpCode }
        return found
    }

    private func limits(_ subscriber: String?) -> RateLimits {
        RateLimits(ofDeployment: [.consoleTriesPerAddress: [subscriber ?? ""]], now: service.now())
    }

    private func hash(_ password: Secret, _ signerKey: [UInt8], for share: HashShare) async throws -> PasswordHash {
        do {
            return try await service.passwords.hash(password, signerKey: signerKey, for: share)
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
    }

    // MARK: The form

    private static let place = "console set-up"

    private func enrollment(_ pending: Pending, _ invitation: ConsoleStore.Invitation) throws -> Enrollment {
        let sealed = try service.keyRing.seal([UInt8](JSONEncoder().encode(pending)), for: Self.place)
        return Enrollment(
            email: invitation.email,
            secret: Base32.encode([UInt8](pending.app)),
            sealed: Base64URL.encode(sealed)
        )
    }

    private func pending(_ sealed: String, of code: Secret) throws(ConsoleError) -> Pending {
        guard sealed.utf8.count < 2_048, let bytes = Base64URL.decode(sealed),
            let opened = try? service.keyRing.open(bytes, for: Self.place),
            let pending = try? JSONDecoder().decode(Pending.self, from: Data(opened)),
            [UInt8](pending.codeHash) == SecureHash.sha256(code.reveal()),
            service.seconds < pending.startedAt + Pending.lifetime
        else { throw .setUpOver }
        return pending
    }
}
