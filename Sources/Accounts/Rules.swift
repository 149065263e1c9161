import Domain
import Federation
import Foundation
import Logging
import Passwords
import Projects
import Secrets
import Sessions
import Storage

/// The rules for passwords: 6 to 4096 UTF-16 code units, and the project's policy.
enum PasswordRules {
    /// - Parameter policy: nil for admins, who are not subject to it.
    static func check(_ password: Secret, _ policy: PasswordPolicy?) throws(AccountsError) {
        let password = password.reveal().composedPassword
        let length = password.utf16.count
        guard length >= PasswordPolicy.lengths.lowerBound else { throw .weakPassword }
        guard length <= PasswordPolicy.lengths.upperBound else { throw .passwordTooLong }
        let problems = policy?.problems(of: password) ?? []
        guard problems.isEmpty else { throw .passwordMissesPolicy(problems) }
    }
}

/// The rules for profile texts: at most 256 UTF-16 code units in a name, and no NUL, which the database cannot store.
enum ProfileRules {
    static func displayName(_ text: String?) throws(AccountsError) -> String? {
        guard let text else { return nil }
        guard text.utf16.count <= 256 else { throw .displayNameTooLong }
        return try Self.text(text, name: "Display name")
    }

    static func photoURL(_ text: String?) throws(AccountsError) -> String? {
        guard let text else { return nil }
        guard text.utf8.count <= 4096 else { throw .invalidProfileAttribute("Photo url too long.") }
        return try Self.text(text, name: "Photo url")
    }

    private static func text(_ text: String, name: String) throws(AccountsError) -> String {
        guard !text.utf8.contains(0) else { throw .invalidProfileAttribute("\(name) is not valid.") }
        return text
    }
}

extension Profile.Field {
    /// The text of an import, if the rules allow it.
    func checked(_ text: String?) throws(AccountsError) -> String? {
        isURL ? try ProfileRules.photoURL(text) : try ProfileRules.displayName(text)
    }
}

extension AccountsService {
    /// Refuses a user's new password that breaks the rules or, if the project wants to know, that was leaked.
    func check(_ password: Secret, _ caller: Caller) async throws {
        try PasswordRules.check(password, caller.project.settings.passwordPolicy)
        guard await !isLeaked(password, caller) else { throw AccountsError.leakedPassword }
    }

    /// Checks and hashes a new password of an account whose session or code was looked at.
    ///
    /// Both the list of leaked passwords, which may be another service, and a hash cost much, so no account gets many
    /// (threats.md, T-E29).
    func hash(
        checking password: Secret,
        of account: AccountID,
        isReset: Bool = false,
        _ caller: Caller
    ) async throws -> StoredPassword {
        try PasswordRules.check(password, caller.project.settings.passwordPolicy)
        try await stores.rateLimits.take(passwordChangeLimits(of: account, isReset: isReset, caller))
        try await check(password, caller)
        return try await hash(password, caller.project, for: caller.hashShare)
    }

    /// False as well if nobody can tell: a service that is down stops no sign-up.
    func isLeaked(_ password: Secret, _ caller: Caller) async -> Bool {
        guard caller.project.settings.refusesLeakedPasswords, let leakedPasswords = options.leakedPasswords else {
            return false
        }
        do {
            let password = Secret(password.reveal().composedPassword)
            return try await leakedPasswords.contains(password, share: caller.project.id.rawValue)
        } catch {
            Logger.current.warning("Could not ask whether a password was leaked", metadata: ["error": "\(error)"])
            return false
        }
    }

    func hash(_ password: Secret, _ project: Project, for share: HashShare) async throws -> StoredPassword {
        do {
            let hash = try await passwords.hash(
                password,
                parameters: project.scryptParameters,
                signerKey: project.signerKey,
                for: share
            )
            return StoredPassword(hash: hash)
        } catch PasswordError.overloaded {
            throw AccountsError.overloaded
        }
    }

    /// The providers, among those whose credentials are removed, at which grants can be revoked.
    func revocable(_ gone: Set<ProviderID>, _ caller: Caller) -> Set<ProviderID> {
        gone.filter { provider($0, caller).map(federation.revokesGrants) ?? false }
    }

    func displaced(_ email: EmailAddress, of holder: AccountID, _ caller: Caller) -> DisplacedEmail {
        DisplacedEmail(email, of: holder, told: Set(caller.project.settings.delivery.webhook?.types ?? []))
    }

    /// ``AccountStore/change(_:session:in:now:decide:)`` with lost claims as our errors; then revokes the grants of
    /// removed credentials at their providers.
    ///
    /// A session's requests are limited before they wait for the account, whether or not it has ended: a thief's keeps the
    /// owner's from nothing (threats.md, T-E40).
    func change(
        _ account: AccountID,
        session: SessionID?,
        _ caller: Caller,
        decide: @escaping @Sendable (Account, StoredSession?) throws -> AccountChanges
    ) async throws -> ChangedAccount {
        if let session { try await stores.rateLimits.take(sessionLimits(of: account, session, caller)) }
        do {
            let changed = try await accounts.change(account, session: session, in: caller.scope, now: now()) {
                var changes = try decide($0, $1)
                changes.revocable = self.revocable(changes.lostProviders(of: $0), caller)
                changes.told = Set(caller.project.settings.delivery.webhook?.types ?? [])
                return changes
            }
            report(changed.changes.sends)
            return changed
        } catch let conflict as ClaimConflict {
            throw AccountsError(conflict)
        } catch let error as SpentCode {
            throw AccountsError(error)
        } catch is UnknownAccount {
            throw AccountsError.userNotFound
        } catch is SessionStore.NewerSignIn {
            throw AccountsError.recentSignInRequired
        }
    }
}

extension Project {
    /// The parameters of new hashes.
    var scryptParameters: ScryptParameters {
        let cost = settings.passwordCost
        let separator = ScryptParameters.standard.saltSeparator
        return ScryptParameters(rounds: cost.rounds, memoryCost: cost.memoryCost, saltSeparator: separator) ?? .standard
    }

    package var signerKey: [UInt8] { [UInt8](Data(base64Encoded: passwordSignerKey.reveal()) ?? Data()) }
}

extension AccountsError {
    /// A code that another request used a moment before is reported like one that was used long ago.
    init(_ spent: SpentCode) {
        self =
            switch spent.code.kind {
            case .mail: .invalidOOBCode
            case .sms: .invalidSessionInfo
            }
    }

    init(_ conflict: ClaimConflict) {
        self =
            switch conflict {
            case .email: .emailExists
            case .phoneNumber: .phoneNumberExists
            case .accountID: .duplicateLocalID
            case .subject: .linking(.identityLinkedToAnotherAccount)
            case .passkey: .passkey(.exists)
            }
    }
}
