package import Domain
import Federation
import Projects
package import Secrets
import Sessions
import Storage

extension AccountsService { package var updateAccount: UpdateAccount { UpdateAccount(service: self) } }

/// Changes the signed-in account: profile, email, password, linked providers.
package struct UpdateAccount: Sendable {
    let service: AccountsService

    package enum Attribute: String, Sendable {
        case email = "EMAIL"
        case displayName = "DISPLAY_NAME"
        case photoURL = "PHOTO_URL"
        case password = "PASSWORD"
    }

    package struct Request: Sendable {
        package var idToken: String?
        package var displayName: String?
        package var photoURL: String?
        package var email: String?
        package var password: Secret?
        package var deleteProviders: [String] = []
        /// The IDs of passkeys.
        package var deletePasskeys: [String] = []
        package var deleteAttributes: [Attribute] = []
        /// `validSince` was sent: every earlier session ends, whatever its value.
        package var revokesSessions = false

        package init() {}
    }

    package struct Result: Sendable {
        package var account: Account
        /// Set if the change continued the session.
        package var tokens: IssuedTokens?
        /// Set if the email changed.
        package var newEmail: String?
    }

    package func callAsFunction(_ request: Request, _ caller: Caller) async throws -> Result {
        let token = try await service.verify(request.idToken, caller: caller)
        let displayName = try ProfileRules.displayName(request.displayName)
        let photoURL = try ProfileRules.photoURL(request.photoURL)
        let email = try AdminAccounts.email(request.email)
        // Without enumeration protection the answer says whether the email is taken.
        if email != nil, !caller.project.settings.emailEnumerationProtection {
            try await service.stores.rateLimits.take(service.methodQueryLimits(caller))
        }
        if let password = request.password {
            try PasswordRules.check(password, caller.project.settings.passwordPolicy)
        }
        let operations = request.operations
        let always = operations.contains { $0.isSensitive(under: .anySession, hasSecondFactor: false) }
        if always { try service.requireRecentSignIn(token, caller: caller) }
        let stored = try await hash(request.password, for: token, operations, caller)
        let now = service.now()
        let renewal = service.prepareRenewal()
        let changed = try await service.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            try service.require(operations, of: user, caller)
            var changes = AccountChanges()
            changes.limits = service.changeLimits(of: user, caller)
            if let displayName { changes.displayName = displayName }
            if let photoURL { changes.photoURL = photoURL }
            if let email, email.canonical != account.email?.canonical {
                try service.requireChangeable(account, caller)
                changes.email = email
                changes.emailVerified = false
                service.keepWayBack(of: account, replacedBy: email, in: &changes, caller)
            }
            var session = renewal.of(user.session)
            for id in request.passkeysToDelete(from: account) { session = session.losing(id) }
            if let stored {
                guard account.email != nil || email != nil || !caller.project.settings.emailEnumerationProtection else {
                    throw AccountsError.verifyEmailBeforeChange
                }
                changes.password = stored
                changes.passwordUpdatedAt = now
                // The user has just set the password, which counts as a sign-in with it.
                session = session.signedInAgain(Evidence(settingPassword: stored, at: service.seconds), with: .password)
            }
            try remove(request, from: account, into: &changes, caller)
            if changes.passkeys != nil { changes.session = .renew(session, retiresOldSecret: false) }
            if request.revokesSessions || stored != nil || changes.email != nil {
                changes.endOthers(keeping: session)
                // Whoever sets neither a password nor an email could keep a session recent by it for ever (T-A2).
                changes.needsNewestSignIn = stored == nil && changes.email == nil
            }
            return changes
        }
        var result = Result(account: try changed.existing)
        let isUnlinked = !changed.changes.unlinked.isEmpty || changed.changes.passkeys != nil
        let event: AccountEvent = isUnlinked ? .unlinked : .changed
        event.log(result.account.id, caller)
        result.tokens = try service.issueTokens(
            for: result.account,
            changed.changes.session,
            renewal.secret,
            caller: caller
        )
        result.newEmail = (changed.changes.email ?? nil)?.canonical
        return result
    }

    /// Only a session that stands and may set a password gets a hash.
    private func hash(
        _ password: Secret?,
        for token: VerifiedIDToken,
        _ operations: Set<SensitiveOperation>,
        _ caller: Caller
    ) async throws -> StoredPassword? {
        guard let password else { return nil }
        try service.require(operations, of: try await service.standing(token, caller), caller)
        return try await service.hash(checking: password, of: token.account, caller)
    }

    /// Applies the request's removals; refuses them if no sign-in method would remain.
    private func remove(
        _ request: Request,
        from account: Account,
        into changes: inout AccountChanges,
        _ caller: Caller
    ) throws(AccountsError) {
        let settings = caller.project.settings
        let providers = try account.removable(request.deleteProviders)
        let attributes = Set(request.deleteAttributes)
        // SDKs know the link of an email as a password.
        var removed = providers.contains(.password) ? providers.union([.emailLink]) : providers
        if attributes.contains(.password) { removed.insert(.password) }
        let passkeys = request.passkeysToDelete(from: account)
        if !passkeys.isEmpty, passkeys.count == account.passkeys.count { removed.insert(.passkey) }
        removed.formIntersection(account.methods)
        if settings.keepLastSignInMethod {
            var lost = removed
            if attributes.contains(.email) { lost.formUnion([.password, .emailLink]) }
            let keepsEmail = account.email != nil && account.emailVerified && !attributes.contains(.email)
            // A verified email counts as a sign-in method if a reset or an email link would open the account.
            let mailOpensAccounts =
                (settings.passwordSignIn || settings.emailLinkSignIn)
                && service.deployment.actionPage(of: caller.project) != nil
            let allowed = SignInMethods.mayRemove(
                lost,
                from: account.waysIn,
                usable: service.usableMethods(of: account, caller),
                emailRecovers: keepsEmail && mailOpensAccounts
            )
            guard allowed else { throw .lastSignInMethod }
        }
        if removed.contains(.password) { changes.password = .some(nil) }
        if removed.contains(.emailLink) { changes.emailLinkSignIn = false }
        if removed.contains(.phone) { changes.phoneNumber = .some(nil) }
        if !passkeys.isEmpty { changes.passkeys = account.passkeys.filter { !passkeys.contains($0.id) } }
        changes.unlinked = removed.filter(\.isFederated)
        if attributes.contains(.displayName) { changes.displayName = .some(nil) }
        if attributes.contains(.photoURL) { changes.photoURL = .some(nil) }
        if attributes.contains(.email), account.email != nil {
            guard account.secondFactors.isEmpty else { throw .secondFactor(.verifiedEmailNeeded) }
            changes.email = .some(nil)
            changes.emailVerified = false
            service.keepWayBack(of: account, replacedBy: nil, in: &changes, caller)
        }
    }
}

extension UpdateAccount.Request {
    /// The request's operations that need more than a session.
    fileprivate var operations: Set<SensitiveOperation> {
        var operations: Set<SensitiveOperation> = []
        if email != nil { operations.insert(.changeEmail) }
        if password != nil { operations.insert(.setPassword) }
        if revokesSessions { operations.insert(.endOtherSessions) }
        for attribute in deleteAttributes {
            switch attribute {
            case .email: operations.insert(.removeEmail)
            case .password: operations.insert(.removePassword)
            case .displayName, .photoURL: break
            }
        }
        for provider in deleteProviders {
            switch ProviderID(provider) {
            case .password, .emailLink: operations.insert(.removePassword)
            case .phone: operations.insert(.removePhoneNumber)
            case .passkey: operations.insert(.removePasskey)
            default: operations.insert(.unlinkProvider)
            }
        }
        if !deletePasskeys.isEmpty { operations.insert(.removePasskey) }
        return operations
    }

    /// The account's passkeys among those of the request; `deleteProvider` removes all.
    fileprivate func passkeysToDelete(from account: Account) -> Set<String> {
        let ids = Set(account.passkeys.map(\.id))
        return deleteProviders.contains(ProviderID.passkey.rawValue) ? ids : ids.intersection(deletePasskeys)
    }
}

extension Account {
    /// The methods of `deleteProvider`; one that the account lacks is gone already.
    ///
    /// - Throws: ``AccountsError/invalidProviderID`` for an ID that no method and no provider can have.
    func removable(_ names: [String]) throws(AccountsError) -> Set<ProviderID> {
        let ids = Set(names.map { ProviderID($0) })
        let known = methods.union(ids.filter { !$0.isFederated || ProviderDefinition.exists($0) })
        guard ids.isSubset(of: known) else { throw .invalidProviderID }
        return ids
    }
}

extension AccountsService {
    /// Whether the account's user may replace its email without verifying the new one first.
    func requireChangeable(_ account: Account, _ caller: Caller) throws(AccountsError) {
        // A second factor requires a verified email (T-D12).
        guard account.secondFactors.isEmpty else { throw .secondFactor(.emailChangeNeedsVerification) }
        guard !caller.project.settings.emailEnumerationProtection else { throw .verifyEmailBeforeChange }
    }
}
