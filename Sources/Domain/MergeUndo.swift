/// Both accounts after a merge is undone: what is unchanged since the merge goes back, and what the remaining account
/// has lost by the verification of its email.
package struct MergeUndo: Sendable, Hashable {
    /// The account that the other one was merged into.
    package private(set) var survivor: Account
    package private(set) var restored: Account
    /// Sign-in methods that go back, sorted.
    package private(set) var returned: [ProviderID] = []
    /// What the remaining account has lost since, and the restored account gets back; sorted.
    package private(set) var recovered: [ProviderID] = []
    /// What the merge moved and was changed since; it stays where it is.
    package private(set) var left: [ProviderID] = []

    /// - Parameters:
    ///   - merged: with what it held all along.
    ///   - detached: what the survivor has lost since the merge, and no other account has.
    ///   - seconds: since 1970.
    package init(
        of record: MergeRecord,
        survivor: Account,
        merged: Account,
        detached: [DetachedCredential] = [],
        seconds: Int64
    ) {
        var back = survivor
        var restored = merged
        back.version += 1
        restored.version += 1
        restored.validSince = max(restored.validSince, seconds)
        // A custom token of either ID signed in to the other one.
        restored.customAuth = merged.customAuth || survivor.customAuth
        // An account that an admin has disabled since must not be enabled by the undo.
        restored.disabled = survivor.isDisabled ? true : record.wasDisabled
        var emailStands = true
        if let email = record.email {
            emailStands = survivor.email?.canonical == email && survivor.emailVerified == record.emailVerified
            if emailStands {
                (restored.email, restored.emailVerified) = (survivor.email, survivor.emailVerified)
                (back.email, back.emailVerified) = (nil, false)
            } else {
                left.append(AccountMerge.email)
            }
        }
        for method in record.moved {
            let fate: Fate
            switch method {
            case .password:
                // A rehash of the same password keeps its date.
                let stands =
                    emailStands && survivor.hasPassword
                    && survivor.passwordUpdatedAt == record.after.passwordUpdatedAt
                if stands {
                    (restored.hasPassword, back.hasPassword) = (true, false)
                    back.passwordUpdatedAt = record.before.passwordUpdatedAt
                }
                fate = stands ? .returned : .left
            case .phone:
                if survivor.phoneNumber == record.phoneNumber {
                    back.phoneNumber = nil
                    fate = .returned
                } else {
                    fate = record.lost(method, record.phoneNumber, among: detached) == nil ? .left : .recovered
                }
                if fate != .left { restored.phoneNumber = record.phoneNumber }
            case .emailLink:
                let stands = emailStands && survivor.emailLinkSignIn
                if stands { (restored.emailLinkSignIn, back.emailLinkSignIn) = (true, record.before.emailLinkSignIn) }
                fate = stands ? .returned : .left
            case .passkey:
                let ids = Set(record.passkeys ?? [])
                let current = back.passkeys.filter { ids.contains($0.id) }
                back.passkeys.removeAll { ids.contains($0.id) }
                let lost = current.isEmpty ? record.lostPasskeys(among: detached) : []
                restored.passkeys += current + lost
                fate = !current.isEmpty ? .returned : lost.isEmpty ? .left : .recovered
            default:
                let subject = record.subjects[method.rawValue]
                if let current = survivor.linked.first(where: { $0.provider == method && $0.subject == subject }) {
                    back.linked.removeAll { $0.provider == method }
                    restored.linked.append(current)
                    fate = .returned
                } else if let lost = record.lost(method, subject, among: detached) {
                    restored.linked.append(LinkedCredential(lost))
                    fate = .recovered
                } else {
                    fate = .left
                }
                restored.linked.sort { $0.provider.rawValue < $1.provider.rawValue }
            }
            switch fate {
            case .returned: returned.append(method)
            case .recovered: recovered.append(method)
            case .left: left.append(method)
            }
        }
        // The merged account still has its second factors: a take-over by an earlier release has removed the survivor's.
        let isTakenOver = detached.contains { $0.reason == .takeOver }
        if Self.returnFactors(record.factors, from: &back, to: &restored, keepsLost: isTakenOver) {
            left.append(AccountMerge.secondFactors)
        }
        for field in Profile.ofAccounts where survivor.profile[field] == record.after.profile[field.name] {
            back.profile[field] = record.before.profile[field.name]
        }
        self.survivor = back
        self.restored = restored
    }

    private enum Fate { case returned, recovered, left }

    /// - Returns: whether some of the factors no longer exist.
    private static func returnFactors(
        _ ids: [String],
        from back: inout Account,
        to restored: inout Account,
        keepsLost: Bool
    ) -> Bool {
        var isIncomplete = false
        for id in ids {
            let current = back.secondFactors.first { $0.id == id }
            if current == nil, keepsLost { continue }
            guard let index = restored.secondFactors.firstIndex(where: { $0.id == id }) else { continue }
            guard let current, current.phoneNumber == restored.secondFactors[index].phoneNumber else {
                restored.secondFactors.remove(at: index)
                isIncomplete = true
                continue
            }
            if case .totp(let secret, _) = restored.secondFactors[index].kind, case .totp(_, let last) = current.kind {
                // A code that was used in the meantime must not be accepted again.
                restored.secondFactors[index].kind = .totp(sealedSecret: secret, lastStep: last)
            }
            back.secondFactors.removeAll { $0.id == id }
        }
        return isIncomplete
    }
}

extension MergeRecord {
    /// How a moved credential was detached, if it may come back.
    ///
    /// A provider that reassigned the email that moved says that its earlier identity has lost it.
    fileprivate func lost(
        _ method: ProviderID,
        _ subject: String?,
        among detached: [DetachedCredential]
    ) -> DetachedCredential? {
        detached.first {
            $0.provider == method && $0.subject == subject && ($0.reason == .takeOver || email == nil)
        }
    }

    fileprivate func lostPasskeys(among detached: [DetachedCredential]) -> [Passkey] {
        let lost = Set(detached.filter { $0.provider == .passkey }.flatMap { $0.subject.split(separator: " ") })
        return (passkeyRecords ?? []).filter { lost.contains($0.id[...]) }
    }
}

extension LinkedCredential {
    fileprivate init(_ detached: DetachedCredential) {
        self.init(
            provider: detached.provider,
            subject: detached.subject,
            email: detached.email,
            profile: Profile(displayName: detached.displayName)
        )
    }
}
