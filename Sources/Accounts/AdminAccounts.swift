package import Domain
package import Projects
package import Secrets
import Sessions
package import Storage

extension AccountsService { package var admin: AdminAccounts { AdminAccounts(service: self) } }

/// The admin operations on accounts.
package struct AdminAccounts: Sendable {
    let service: AccountsService

    package struct NewAccount: Sendable {
        package var localID: String?
        package var email: String?
        package var emailVerified = false
        package var password: Secret?
        package var displayName: String?
        package var photoURL: String?
        package var phoneNumber: String?
        package var disabled = false
        package var secondFactors: [AdminSecondFactor] = []

        package init() {}
    }

    /// Creates an account; stores `disabled` even if false, as Firebase does.
    package func create(_ new: NewAccount, _ project: Project) async throws -> Account {
        let id =
            try new.localID.map { text throws(AccountsError) in try Self.accountID(text) } ?? service.newAccountID()
        var account = Account(id: id, validSince: service.seconds, createdAt: service.now())
        account.email = try Self.email(new.email)
        account.emailVerified = new.emailVerified && account.email != nil
        account.displayName = try ProfileRules.displayName(new.displayName)
        account.photoURL = try ProfileRules.photoURL(new.photoURL)
        account.phoneNumber = try Self.phoneNumber(new.phoneNumber)
        account.disabled = new.disabled
        account.secondFactors = try service.newSecondFactors(new.secondFactors, of: account)
        guard account.secondFactors.isEmpty || account.emailVerified else {
            throw AccountsError.secondFactor(.verifiedEmailNeeded)
        }
        var stored: StoredPassword?
        if let password = new.password {
            try PasswordRules.check(password, nil)
            stored = try await service.hash(password, project, for: project.hashShare)
            account.hasPassword = true
            account.passwordUpdatedAt = service.now()
        }
        do {
            return try await service.accounts.insert(
                account,
                password: stored,
                session: nil,
                isTold: project.settings.delivery.takes(.accountCreated),
                in: project.scope,
                now: service.now()
            )
        } catch let conflict as ClaimConflict {
            throw AccountsError(conflict)
        }
    }

    package struct Selectors: Sendable {
        package var localIDs: [String] = []
        package var emails: [String] = []
        /// Addresses that accounts had first.
        package var initialEmails: [String] = []
        package var phoneNumbers: [String] = []
        package var federated: [(provider: ProviderID, subject: String)] = []

        package init() {}

        package var count: Int { localIDs.count + countWithoutIDs }

        private var countWithoutIDs: Int {
            emails.count + initialEmails.count + phoneNumbers.count + federated.count
        }

        /// The ID, if the selectors contain exactly one ID and nothing else.
        fileprivate var onlyAccount: AccountID? {
            guard localIDs.count == 1, countWithoutIDs == 0 else { return nil }
            return AccountID(localIDs[0])
        }
    }

    /// The accounts that any selector matches; selectors without a match are ignored.
    package func lookUp(_ selectors: Selectors, _ project: Project) async throws -> [Account] {
        guard selectors.count > 0 else { throw AccountsError.missingIDToken }
        let scope = project.scope
        var named = AccountSelectors(
            accounts: selectors.localIDs.map { AccountID($0) },
            emails: selectors.emails.compactMap { EmailAddress($0) },
            initialEmails: selectors.initialEmails.compactMap { EmailAddress($0) },
            phoneNumbers: selectors.phoneNumbers.flatMap { PhoneNumber(stored: $0)?.spellings ?? [] },
            federated: selectors.federated
        )
        // Back ends look up one account at a time (`checkRevoked`), so these reads share a statement.
        let found =
            if let only = selectors.onlyAccount {
                try await [service.accounts.find(only, session: nil, in: scope)?.account].compactMap(\.self)
            } else {
                try await service.accounts.find(named, in: scope)
            }
        let unknown = Set(named.accounts).subtracting(found.map(\.id))
        guard !unknown.isEmpty else { return found }
        let aliases = try await service.accounts.aliases(Array(unknown), in: scope)
        guard !aliases.isEmpty else { return found }
        let known = Set(found.map(\.id))
        named.accounts = named.accounts.map { aliases[$0]?.survivor ?? $0 }
        return try await service.accounts.find(named, in: scope).map { account in
            var account = account
            // A caller that uses the old ID may have a token for it (`checkRevoked`): all of those ended with the
            // merge.
            if !known.contains(account.id) {
                let ends = aliases.values.filter { $0.survivor == account.id }.map(\.validSince)
                account.validSince = max(account.validSince, ends.max() ?? 0)
            }
            return account
        }
    }

    /// A page of accounts ordered by ID.
    ///
    /// - Parameter exports: whether the admin also gets the password hashes, which is recorded.
    package func list(
        maxResults: Int,
        after: AccountID?,
        exports: Bool,
        _ project: Project
    ) async throws -> [ListedAccount] {
        guard maxResults > 0 else { return [] }
        return try await service.accounts.list(
            after: after,
            limit: min(maxResults, 1000),
            exportedAt: exports ? service.now() : nil,
            in: project.scope
        )
    }

    /// - Parameter version: the version that the admin saw; nil for any.
    package func delete(
        localID: String?,
        version: Int64? = nil,
        _ project: Project
    ) async throws {
        let account = try Self.required(localID)
        let caller = Caller(project: project)
        _ = try await service.change(named: account, caller) { account, _ in
            try account.require(version: version)
            var changes = AccountChanges()
            changes.deletesAccount = true
            return changes
        }
    }

    /// The state of the account's identity at a provider.
    package func credentialState(
        localID: String?,
        provider: ProviderID,
        _ project: Project
    ) async throws -> ReadCredentialState.Result {
        let caller = Caller(project: project)
        let account = try await service.existingAccount(localID, in: caller.scope)
        return try await ReadCredentialState(service: service)(account, provider, caller)
    }

    package func listSessions(
        localID: String?,
        _ project: Project
    ) async throws -> [SessionSummary] {
        let scope = project.scope
        let account = try await service.existingAccount(localID, in: scope)
        let idle = project.settings.sessionsIdle(at: service.now())
        return try await service.sessions.list(of: account, idleSince: idle, in: scope)
            .map { SessionSummary($0, current: false) }
    }

    /// The account's detached credentials, latest first.
    package func listDetachedCredentials(
        localID: String?,
        _ project: Project
    ) async throws -> [DetachedCredential] {
        let scope = project.scope
        let account = try await service.existingAccount(localID, in: scope)
        return try await service.accounts.detached(from: account, in: scope)
    }

    /// Ends one session of an account, or all.
    package func signOut(
        localID: String?,
        sessionID: String?,
        _ project: Project
    ) async throws {
        let scope = project.scope
        let account = try await service.existingAccount(localID, in: scope)
        guard let sessionID else {
            _ = try await service.sessions.revoke(.all, of: account, in: scope, now: service.now())
            return
        }
        guard let id = SessionID(rawValue: sessionID),
            let ended = try await service.sessions.revoke(.only(id), of: account, in: scope, now: service.now()),
            ended > 0
        else { throw AccountsError.sessionNotFound }
    }

    // MARK: Values

    static func required(_ localID: String?) throws(AccountsError) -> AccountID {
        guard let localID, !localID.isEmpty else { throw .missingLocalID }
        return AccountID(localID)
    }

    static func accountID(_ text: String) throws(AccountsError) -> AccountID {
        guard (1...128).contains(text.count), text.utf8.count <= 512, !text.utf8.contains(0) else {
            throw .invalidLocalID
        }
        return AccountID(text)
    }

    static func email(_ text: String?) throws(AccountsError) -> EmailAddress? {
        guard let text else { return nil }
        guard let address = EmailAddress(text) else { throw .invalidEmail }
        return address
    }

    static func phoneNumber(_ text: String?) throws(AccountsError) -> String? {
        guard let text else { return nil }
        guard let number = PhoneNumber(text) else { throw .invalidPhoneNumber }
        return number.text
    }
}

extension AccountsService {
    /// The account that an admin names; throws if it does not exist.
    func existingAccount(_ localID: String?, in scope: Scope) async throws -> AccountID {
        try await resolving(try AdminAccounts.required(localID), in: scope) { account in
            guard try await accounts.find(account, session: nil, in: scope) != nil else {
                throw AccountsError.userNotFound
            }
            return account
        }
    }

    /// Changes the account that an admin names.
    func change(
        named id: AccountID,
        _ caller: Caller,
        decide: @escaping @Sendable (Account, StoredSession?) throws -> AccountChanges
    ) async throws -> ChangedAccount {
        try await resolving(id, in: caller.scope) { try await change($0, session: nil, caller, decide: decide) }
    }

    /// Runs an operation on an account; if it was merged, on the survivor.
    private func resolving<R>(_ id: AccountID, in scope: Scope, _ body: (AccountID) async throws -> R) async throws -> R
    {
        do {
            return try await body(id)
        } catch AccountsError.userNotFound {
            guard let survivor = try await accounts.survivors(of: [id], in: scope)[id] else {
                throw AccountsError.userNotFound
            }
            return try await body(survivor)
        }
    }
}
