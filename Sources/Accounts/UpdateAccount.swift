package import Linking
import Projects
package import Secrets
import Sessions
import Storage

/// Changes the signed-in account: profile, email, password, linked providers.
package struct UpdateAccount: Sendable {
    let parts: Parts

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
        package var deleteAttributes: [Attribute] = []
        /// `validSince` was sent: every session before now ends, whatever its value.
        package var revokesSessions = false

        package init() {}
    }

    package struct Result: Sendable {
        package var account: Account
        /// Set when the change moved the session on.
        package var tokens: IssuedTokens?
        /// Set when the address changed.
        package var newEmail: String?
    }

    package func callAsFunction(_ request: Request, _ caller: Caller) async throws -> Result {
        let token = try await parts.verify(request.idToken, caller: caller)
        let displayName = try ProfileRules.displayName(request.displayName)
        let photoURL = try ProfileRules.photoURL(request.photoURL)
        let email = try request.email.map { text throws(AccountsError) in
            guard let address = EmailAddress(text) else { throw .invalidEmail }
            return address
        }
        if let password = request.password { try PasswordRules.check(password, caller.project.settings.passwordPolicy) }
        let sensitive =
            email != nil || request.password != nil
            || !request.deleteAttributes.filter { $0 != .displayName && $0 != .photoURL }.isEmpty
        if sensitive { try parts.requireRecentSignIn(token, caller: caller) }
        let stored: StoredPassword? =
            if let password = request.password { try await parts.hash(password, caller.project) } else { nil }
        let settings = caller.project.settings
        let now = parts.now()
        // By a reset or a link, which lead somewhere.
        let mailOpensAccounts = (settings.passwordSignIn || settings.emailLinkSignIn) && parts.actionURL() != nil
        let provider: ProviderID? = request.password == nil ? nil : .password
        let session = parts.prepareSession(
            token,
            provider: provider ?? token.signInProvider,
            caller: caller
        )
        let changed = try await parts.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            var changes = AccountChanges()
            var rotates = request.revokesSessions
            if let displayName { changes.displayName = displayName }
            if let photoURL { changes.photoURL = photoURL }
            if let email, email.canonical != account.email?.canonical {
                guard !settings.emailEnumerationProtection else { throw AccountsError.verifyEmailBeforeChange }
                changes.email = email
                changes.emailVerified = false
                if account.initialEmail == nil { changes.initialEmail = account.email?.canonical }
                changes.sends = parts.recoveryCode(of: account, replacedBy: email, caller)
                rotates = true
            }
            if let stored {
                guard account.email != nil || email != nil || !settings.emailEnumerationProtection else {
                    throw AccountsError.verifyEmailBeforeChange
                }
                changes.password = stored
                changes.passwordUpdatedAt = now
                rotates = true
            }
            try remove(
                request,
                from: account,
                usable: parts.usableMethods(of: account, caller),
                settings: settings,
                mailOpensAccounts: mailOpensAccounts,
                into: &changes
            )
            if case .some(.none) = changes.email { rotates = true }
            if rotates { changes.renew(session.continuing(user.session), of: user, provider: provider) }
            return changes
        }
        var result = Result(account: try changed.existing)
        let event: AccountEvent = changed.changes.unlinked.isEmpty ? .changed : .unlinked
        event.log(result.account.id, caller)
        if let renewed = changed.changes.written(session) {
            result.tokens = try parts.issueTokens(for: result.account, renewed, caller: caller)
        }
        result.newEmail = (changed.changes.email ?? nil)?.canonical
        return result
    }

    /// What the request takes away, refused when no way in would be left.
    private func remove(
        _ request: Request,
        from account: Account,
        usable: Set<ProviderID>,
        settings: ProjectSettings,
        mailOpensAccounts: Bool,
        into changes: inout AccountChanges
    ) throws(AccountsError) {
        let providers = Set(request.deleteProviders.map { ProviderID($0) })
        let attributes = Set(request.deleteAttributes)
        var removed = providers
        if attributes.contains(.password) { removed.insert(.password) }
        removed.formIntersection(account.methods)
        if settings.keepLastSignInMethod {
            var lost = removed
            if attributes.contains(.email) { lost.formUnion([.password, .emailLink]) }
            let keepsEmail = account.email != nil && account.emailVerified && !attributes.contains(.email)
            let allowed = SignInMethods.mayRemove(
                lost,
                from: account.waysIn,
                usable: usable,
                emailRecovers: keepsEmail && mailOpensAccounts
            )
            guard allowed else { throw .lastSignInMethod }
        }
        if removed.contains(.password) { changes.password = .some(nil) }
        if removed.contains(.phone) { changes.phoneNumber = .some(nil) }
        changes.unlinked = removed.filter(\.isFederated)
        if attributes.contains(.displayName) { changes.displayName = .some(nil) }
        if attributes.contains(.photoURL) { changes.photoURL = .some(nil) }
        if attributes.contains(.email), account.email != nil {
            changes.email = .some(nil)
            changes.emailVerified = false
        }
    }
}
