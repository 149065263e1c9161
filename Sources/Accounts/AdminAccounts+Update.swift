package import Domain
import Federation
package import Projects
package import Secrets
import Sessions
import Storage
package import struct Foundation.Date

extension AdminAccounts {
    package struct Changes: Sendable {
        package var localID: String?
        package var email: String?
        package var emailVerified: Bool?
        package var password: Secret?
        package var displayName: String?
        package var photoURL: String?
        package var phoneNumber: String?
        package var disabled: Bool?
        /// A JSON object as text; `{}` or an empty text clears the claims.
        package var customAttributes: String?
        /// Seconds since 1970, stored unchanged.
        package var validSince: Int64?
        package var createdAt: Date?
        package var lastSignInAt: Date?
        package var deleteProviders: [String] = []
        /// The IDs of passkeys.
        package var deletePasskeys: [String] = []
        /// Providers to unblock after they reported that someone else may be using the account.
        package var unblockProviders: [String] = []
        package var deleteAttributes: [UpdateAccount.Attribute] = []
        /// The complete new list of factors; nil leaves them unchanged.
        package var secondFactors: [AdminSecondFactor]?
        /// A credential to link without proof.
        package var link: LinkedCredential?
        /// The version that the admin saw; nil for any.
        package var version: Int64?

        package init() {}
    }

    /// Changes any field of an account for an admin, including the removal of the last sign-in method.
    package func update(_ request: Changes, _ project: Project) async throws -> Account {
        let id = try Self.required(request.localID)
        let email = try Self.email(request.email)
        let displayName = try ProfileRules.displayName(request.displayName)
        let photoURL = try ProfileRules.photoURL(request.photoURL)
        let phoneNumber = try Self.phoneNumber(request.phoneNumber)
        let claims = try request.customAttributes.map { text throws(AccountsError) in try CustomClaimRules.check(text) }
        if let link = request.link { try Self.check(link) }
        if let password = request.password { try PasswordRules.check(password, nil) }
        let stored: StoredPassword? =
            if let password = request.password {
                try await service.hash(password, project, for: project.hashShare)
            } else { nil }
        let now = service.now()
        let seconds = service.seconds
        let changed = try await service.change(named: id, Caller(project: project)) { account, _ in
            try account.require(version: request.version)
            var changes = AccountChanges()
            changes.emailVerified = request.emailVerified
            changes.disabled = request.disabled
            if let validSince = request.validSince {
                changes.validSince = validSince
                changes.endedSessions = .openedBefore(validSince)
            }
            changes.createdAt = request.createdAt
            changes.lastSignInAt = request.lastSignInAt
            changes.grants = request.unblockProviders.map {
                .init(provider: ProviderID($0), kind: .blocked(false, since: now))
            }
            if let displayName { changes.displayName = displayName }
            if let photoURL { changes.photoURL = photoURL }
            if let phoneNumber { changes.phoneNumber = phoneNumber }
            changes.secondFactors = try request.secondFactors.map { try service.secondFactors($0, of: account) }
            if let claims { changes.customAttributes = .some(claims) }
            if let email, email.canonical != account.email?.canonical {
                changes.email = email
                changes.emailVerified = request.emailVerified ?? false
                changes.keepAddress(of: account)
                changes.validSince = request.validSince ?? seconds
                changes.endedSessions = .all
            }
            if let stored {
                changes.password = stored
                changes.passwordUpdatedAt = now
                changes.validSince = request.validSince ?? seconds
                changes.endedSessions = .all
            }
            try Self.remove(request, from: account, into: &changes)
            if let link = request.link {
                // The same identity again changes nothing, as for users (K4).
                switch account.linked.first(where: { $0.provider == link.provider })?.subject {
                case nil: changes.linked = link
                case link.subject: break
                default: throw AccountsError.linking(.providerAlreadyLinked)
                }
            }
            try Self.keepVerified(account, changes)
            return changes
        }
        return try changed.existing
    }

    /// A second factor requires a verified email, wherever either is written (T-D12).
    ///
    /// An account of an earlier release may have factors without one: it keeps them, but gets no more.
    private static func keepVerified(_ account: Account, _ changes: AccountChanges) throws(AccountsError) {
        let factors = changes.secondFactors ?? account.secondFactors
        let adds = factors.contains { factor in
            !account.secondFactors.contains { $0.id == factor.id && $0.kind == factor.kind }
        }
        guard account.hasVerifiedEmail && !factors.isEmpty || adds else { return }
        var after = account
        if let email = changes.email { after.email = email }
        if let verified = changes.emailVerified { after.emailVerified = verified }
        guard after.hasVerifiedEmail else { throw .secondFactor(.verifiedEmailNeeded) }
    }

    private static func remove(_ request: Changes, from account: Account, into changes: inout AccountChanges) throws {
        let providers = try account.removable(request.deleteProviders)
        let attributes = Set(request.deleteAttributes)
        if providers.contains(.password) || attributes.contains(.password) { changes.password = .some(nil) }
        if !providers.isDisjoint(with: [.password, .emailLink]), account.emailLinkSignIn {
            changes.emailLinkSignIn = false
        }
        if providers.contains(.phone) { changes.phoneNumber = .some(nil) }
        let left = account.passkeys.filter { !providers.contains(.passkey) && !request.deletePasskeys.contains($0.id) }
        if left.count < account.passkeys.count { changes.passkeys = left }
        changes.unlinked = providers.filter(\.isFederated).intersection(account.linked.map(\.provider))
        if attributes.contains(.displayName) { changes.displayName = .some(nil) }
        if attributes.contains(.photoURL) { changes.photoURL = .some(nil) }
        if attributes.contains(.email), account.email != nil {
            changes.email = .some(nil)
            changes.emailVerified = false
        }
    }

    private static func check(_ link: LinkedCredential) throws(AccountsError) {
        guard !link.provider.rawValue.isEmpty, !link.subject.isEmpty else { throw .missingIdentifierForLink }
        guard ProviderDefinition.exists(link.provider) else { throw .invalidProviderID }
        guard link.subject.utf8.count <= 255, !link.subject.utf8.contains(0) else { throw .missingIdentifierForLink }
    }
}

extension Account {
    fileprivate var hasVerifiedEmail: Bool { email != nil && emailVerified }

    /// - Parameter version: the version that the admin's decision is based on; nil for any.
    /// - Throws: ``AccountsError/changedMeanwhile``.
    func require(version: Int64?) throws(AccountsError) {
        guard version == nil || version == self.version else { throw .changedMeanwhile }
    }
}

/// Custom claims: a JSON object of at most 1000 UTF-16 code units without the names that tokens use themselves.
enum CustomClaimRules {
    /// The text to store; nil for none, which `{}` is not: it is what was set (Firebase).
    static func check(_ text: String) throws(AccountsError) -> String? {
        guard !text.isEmpty else { return nil }
        guard text.utf16.count <= 1000 else { throw .claimsTooLarge }
        guard !text.utf8.contains(0), let names = CustomClaims.names(in: text) else { throw .invalidClaims }
        if let name = names.first(where: CustomClaims.reservedNames.contains) { throw .forbiddenClaim(name) }
        return text
    }
}
