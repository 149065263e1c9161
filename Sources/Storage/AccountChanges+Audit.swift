import Domain
import Federation
import Projects
import Sessions

import struct Foundation.Date

extension AccountChanges {
    /// The audit log's entries for changes to an account that is not deleted.
    ///
    /// - Parameter account: as it was before.
    func entries(for account: Account, _ scope: Scope, at date: Date) -> [AuditEntry] {
        func entry(
            _ action: AuditAction,
            _ providers: [ProviderID] = [],
            resource: String? = nil,
            changes: [String] = []
        ) -> AuditEntry {
            AuditEntry(
                action,
                in: scope,
                account: account.id,
                providers: providers,
                resource: resource,
                changes: changes,
                at: date
            )
        }
        var entries: [AuditEntry] = []
        let members = members(of: account)
        let method = credential.map { [$0.credential.identity.provider] } ?? []
        let proof = credential?.redeems == nil ? [] : ["pendingToken"]
        let resource = credential == nil ? nil : session.id?.rawValue
        if firstVerification != nil {
            entries.append(entry(.accountTakenOver, method, resource: resource, changes: members + proof))
        } else if !members.isEmpty {
            entries.append(entry(.accountUpdated, changes: members))
        }
        if let credential {
            // A first factor alone is not a sign-in yet.
            let action: AuditAction? =
                if firstVerification != nil { nil } else if !credential.isKnown(to: account) { .credentialLinked } else
                { session.authTime == nil ? nil : .signedIn }
            if let action { entries.append(entry(action, method, resource: resource, changes: proof)) }
            return entries
        }
        if let linked { entries.append(entry(.credentialLinked, [linked.provider])) }
        let lost = account.linked.map(\.provider).filter(unlinked.contains)
        if !lost.isEmpty { entries.append(entry(.credentialUnlinked, lost)) }
        for grant in grants { entries.append(entry(grant.action, [grant.provider])) }
        switch session {
        case .open(let session):
            entries.append(entry(.signedIn, [session.signInProvider], resource: session.id.rawValue))
        // The entry of the change already lists a changed password.
        case .renew(let session, _) where session.evidence != nil && password == nil:
            entries.append(entry(.signedIn, [session.signInProvider], resource: session.session.id.rawValue))
        case .renew, .none: break
        }
        return entries
    }

    /// The changed members, by their names in the API.
    private func members(of account: Account) -> [String] {
        let all: [(name: String, changes: Bool)] = [
            ("email", email.map { $0 != account.email } ?? false),
            ("emailVerified", emailVerified.map { $0 != account.emailVerified } ?? false),
            ("displayName", (displayName ?? profile.map(\.displayName)).map { $0 != account.displayName } ?? false),
            ("photoUrl", (photoURL ?? profile.map(\.photoURL)).map { $0 != account.photoURL } ?? false),
            ("phoneNumber", phoneNumber.map { $0 != account.phoneNumber } ?? false),
            ("password", password != nil),
            ("emailLinkSignin", emailLinkSignIn.map { $0 != account.emailLinkSignIn } ?? false),
            ("passkeyInfo", passkeys.map { $0.map(\.label) != account.passkeys.map(\.label) } ?? false),
            ("mfaInfo", secondFactors.map { $0 != account.secondFactors } ?? false),
            ("customAttributes", customAttributes.map { $0 != account.customAttributes } ?? false),
            ("disabled", disabled.map { $0 != account.disabled } ?? false),
            ("validSince", validSince.map { $0 != account.validSince } ?? false),
            ("createdAt", createdAt.map { $0 != account.createdAt } ?? false),
        ]
        return all.filter(\.changes).map(\.name) + (endedSessions.isNone ? [] : ["sessions"])
    }
}

extension AccountChanges.EndedSessions {
    var isNone: Bool { if case .none = self { true } else { false } }
}

extension AccountChanges.GrantChange {
    fileprivate var action: AuditAction {
        switch kind {
        case .withdrawn: .consentWithdrawn
        case .blocked(let isBlocked, _): isBlocked ? .credentialBlocked : .credentialUnblocked
        case .forwarding: .relayChanged
        }
    }
}

extension Passkey {
    /// What users know of it; each use changes the rest.
    fileprivate var label: [String?] { [id, name] }
}
