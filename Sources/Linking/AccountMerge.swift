import struct Foundation.Date

/// What becomes of two accounts of one person when one is merged into the other.
///
/// A pure function of both and of what an admin gives up. What the account that stays has, it keeps; what it lacks, it
/// takes; what it cannot take beside its own is a conflict, until the admin gives it up. Nothing becomes verified by it.
package struct AccountMerge: Sendable, Hashable {
    /// How second factors are called among sign-in methods.
    package static let secondFactors: ProviderID = "mfa"

    package struct Conflict: Sendable, Hashable {
        /// An identity provider, `password`, `phone`, `emailLink` or `mfa`.
        package var method: ProviderID
        package var reason: Reason
    }

    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The account that stays has one of its own.
        case alreadyLinked
        /// It belongs to an address that does not come along.
        case otherAddress
        /// Nobody proved the address of the password, and it would open an account whose address is proved.
        case emailNotVerified
        /// An account with second factors is not opened by phone, and one of the two is.
        case phoneSignIn
        /// More second factors than an account has.
        case tooMany
        /// Both have second factors of the same id.
        case enrollmentExists
    }

    /// The account that stays, as it will be; as if all that is in conflict had been given up.
    package private(set) var survivor: Account
    /// The other one, as it will be: with what it still holds, and signing nobody in.
    package private(set) var rest: Account
    /// Sign-in methods that the account that stays takes, sorted.
    package private(set) var moved: [ProviderID] = []
    /// Second factors that it takes, as the other one had them.
    package private(set) var movedFactors: [SecondFactor] = []
    /// Sign-in methods that come to nothing, sorted; second factors among them.
    package private(set) var givenUp: [ProviderID] = []
    package private(set) var conflicts: [Conflict] = []
    /// What an undo goes by.
    package private(set) var record: MergeRecord

    /// - Parameters:
    ///   - dropped: methods of the account that goes which the admin gives up.
    ///   - seconds: since 1970.
    package init(of merged: Account, into survivor: Account, dropping dropped: Set<ProviderID>, seconds: Int64) {
        var after = survivor
        var rest = merged
        after.version += 1
        rest.version += 1
        rest.disabled = true
        rest.validSince = max(rest.validSince, seconds)
        record = MergeRecord(before: MergeRecord.Fields(survivor), wasDisabled: merged.disabled)
        if survivor.email == nil, let email = merged.email {
            (after.email, after.emailVerified) = (email, merged.emailVerified)
            (rest.email, rest.emailVerified) = (nil, false)
            record.email = email.canonical
            record.emailVerified = merged.emailVerified
        }
        // A password without an address opens nothing, and stays behind.
        for method in merged.waysIn.sorted(by: { $0.rawValue < $1.rawValue }) {
            let reason = Self.reason(against: method, of: merged, in: survivor)
            guard !dropped.contains(method), reason == nil else {
                givenUp.append(method)
                if let reason, !dropped.contains(method) { conflicts.append(Conflict(method: method, reason: reason)) }
                continue
            }
            Self.move(method, from: &rest, to: &after)
            moved.append(method)
        }
        if !merged.secondFactors.isEmpty {
            // A number that both have is lost by neither.
            let own = Set(survivor.secondFactors.compactMap(\.phoneNumber))
            let others = merged.secondFactors.filter { $0.phoneNumber.map { !own.contains($0) } ?? true }
            let reason = Self.reason(against: others, in: survivor)
            if dropped.contains(Self.secondFactors) || reason != nil {
                givenUp.append(Self.secondFactors)
                if let reason, !dropped.contains(Self.secondFactors) {
                    conflicts.append(Conflict(method: Self.secondFactors, reason: reason))
                }
            } else {
                movedFactors = others
                after.secondFactors += others
            }
        }
        for field in MergeRecord.profile where after[keyPath: field] == nil {
            after[keyPath: field] = merged[keyPath: field]
        }
        record.moved = moved
        record.phoneNumber = moved.contains(.phone) ? merged.phoneNumber : nil
        for credential in merged.linked where moved.contains(credential.provider) {
            record.subjects[credential.provider.rawValue] = credential.subject
        }
        record.factors = movedFactors.map(\.id)
        record.after = MergeRecord.Fields(after)
        self.survivor = after
        self.rest = rest
    }

    /// Puts the second factors that the account takes into their place, once their secrets are sealed for it.
    package mutating func seal(_ factors: [SecondFactor]) {
        let moved = Set(movedFactors.map(\.id))
        survivor.secondFactors = survivor.secondFactors.filter { !moved.contains($0.id) } + factors
    }

    /// Why a method cannot be taken; nil when it can.
    private static func reason(against method: ProviderID, of merged: Account, in survivor: Account) -> Reason? {
        switch method {
        case .password:
            if survivor.hasPassword { return .alreadyLinked }
            return survivor.emailVerified && !merged.emailVerified ? .emailNotVerified : nil
        case .phone:
            if survivor.phoneNumber != nil { return .alreadyLinked }
            return !survivor.secondFactors.isEmpty && merged.secondFactors.isEmpty ? .phoneSignIn : nil
        case .emailLink: return survivor.email == nil ? nil : .otherAddress
        default: return survivor.linked.contains { $0.provider == method } ? .alreadyLinked : nil
        }
    }

    private static func reason(against factors: [SecondFactor], in survivor: Account) -> Reason? {
        guard !factors.isEmpty else { return nil }
        let own = survivor.secondFactors
        if own.isEmpty, survivor.phoneNumber != nil { return .phoneSignIn }
        if factors.contains(where: { factor in own.contains { $0.id == factor.id } }) { return .enrollmentExists }
        let all = own + factors
        let apps = all.count { $0.isTOTP }
        return apps > SecondFactor.mostApps || all.count - apps > SecondFactor.mostPhones ? .tooMany : nil
    }

    private static func move(_ method: ProviderID, from rest: inout Account, to after: inout Account) {
        switch method {
        case .password:
            (after.hasPassword, rest.hasPassword) = (true, false)
            after.passwordUpdatedAt = rest.passwordUpdatedAt
        case .phone: (after.phoneNumber, rest.phoneNumber) = (rest.phoneNumber, nil)
        case .emailLink: (after.emailLinkSignIn, rest.emailLinkSignIn) = (true, false)
        default:
            after.linked += rest.linked.filter { $0.provider == method }
            after.linked.sort { $0.provider.rawValue < $1.provider.rawValue }
            rest.linked.removeAll { $0.provider == method }
        }
    }
}

/// What a merge moved, and what the account that stays was like: enough to put it back.
package struct MergeRecord: Sendable, Hashable, Codable {
    /// What is compared with what it is now.
    package struct Fields: Sendable, Hashable, Codable {
        /// In the order of ``MergeRecord/profile``.
        var profile: [String?]
        var emailLinkSignIn: Bool
        var passwordUpdatedAt: Date?

        init(_ account: Account) {
            profile = MergeRecord.profile.map { account[keyPath: $0] }
            emailLinkSignIn = account.emailLinkSignIn
            passwordUpdatedAt = account.passwordUpdatedAt
        }
    }

    package fileprivate(set) var moved: [ProviderID] = []
    /// Of the identities that moved, by their providers.
    fileprivate var subjects: [String: String] = [:]
    /// Canonical; nil when the address did not move.
    fileprivate var email: String?
    fileprivate var emailVerified = false
    fileprivate var phoneNumber: String?
    /// The ids of second factors that moved.
    fileprivate var factors: [String] = []
    fileprivate var before: Fields
    fileprivate var after: Fields
    fileprivate var wasDisabled: Bool?

    fileprivate init(before: Fields, wasDisabled: Bool?) {
        (self.before, self.wasDisabled) = (before, wasDisabled)
        after = before
    }

    /// The members that are filled where the account that stays has none.
    static var profile: [WritableKeyPath<Account, String?>] {
        [\.displayName, \.photoURL, \.screenName, \.language, \.timeZone, \.dateOfBirth]
    }
}

/// What becomes of both accounts when a merge is undone: what is still as the merge moved it goes back, and nothing else.
package struct MergeUndo: Sendable, Hashable {
    /// How the address is called among what was left.
    package static let email: ProviderID = "email"

    /// The account into which the other one was merged.
    package private(set) var survivor: Account
    package private(set) var restored: Account
    /// Sign-in methods that go back, sorted.
    package private(set) var returned: [ProviderID] = []
    /// What the merge moved and somebody changed since: it stays as it is.
    package private(set) var left: [ProviderID] = []

    /// - Parameters:
    ///   - merged: with what it held all the time.
    ///   - seconds: since 1970.
    package init(of record: MergeRecord, survivor: Account, merged: Account, seconds: Int64) {
        var back = survivor
        var restored = merged
        back.version += 1
        restored.version += 1
        restored.validSince = max(restored.validSince, seconds)
        // Whom an admin has disabled since does not come back by another door.
        restored.disabled = survivor.isDisabled ? true : record.wasDisabled
        var emailStands = true
        if let email = record.email {
            emailStands = survivor.email?.canonical == email && survivor.emailVerified == record.emailVerified
            if emailStands {
                (restored.email, restored.emailVerified) = (survivor.email, survivor.emailVerified)
                (back.email, back.emailVerified) = (nil, false)
            } else {
                left.append(Self.email)
            }
        }
        for method in record.moved {
            let stands: Bool
            switch method {
            case .password:
                // A new hash of the same password keeps its date.
                stands =
                    emailStands && survivor.hasPassword
                    && survivor.passwordUpdatedAt == record.after.passwordUpdatedAt
                if stands {
                    (restored.hasPassword, back.hasPassword) = (true, false)
                    back.passwordUpdatedAt = record.before.passwordUpdatedAt
                }
            case .phone:
                stands = survivor.phoneNumber == record.phoneNumber
                if stands { (restored.phoneNumber, back.phoneNumber) = (survivor.phoneNumber, nil) }
            case .emailLink:
                stands = emailStands && survivor.emailLinkSignIn
                if stands { (restored.emailLinkSignIn, back.emailLinkSignIn) = (true, record.before.emailLinkSignIn) }
            default:
                let subject = record.subjects[method.rawValue]
                let credential = survivor.linked.first { $0.provider == method && $0.subject == subject }
                stands = credential != nil
                if let credential {
                    back.linked.removeAll { $0.provider == method }
                    restored.linked.append(credential)
                    restored.linked.sort { $0.provider.rawValue < $1.provider.rawValue }
                }
            }
            if stands { returned.append(method) } else { left.append(method) }
        }
        if Self.returnFactors(record.factors, from: &back, to: &restored) { left.append(AccountMerge.secondFactors) }
        let after = MergeRecord.Fields(survivor).profile
        for (index, field) in MergeRecord.profile.enumerated() where after[index] == record.after.profile[index] {
            back[keyPath: field] = record.before.profile[index]
        }
        self.survivor = back
        self.restored = restored
    }

    /// - Returns: whether some are no longer there.
    private static func returnFactors(_ ids: [String], from back: inout Account, to restored: inout Account) -> Bool {
        var isIncomplete = false
        for id in ids {
            let current = back.secondFactors.first { $0.id == id }
            guard let index = restored.secondFactors.firstIndex(where: { $0.id == id }) else { continue }
            guard let current, current.phoneNumber == restored.secondFactors[index].phoneNumber else {
                restored.secondFactors.remove(at: index)
                isIncomplete = true
                continue
            }
            if case .totp(let secret, _) = restored.secondFactors[index].kind, case .totp(_, let last) = current.kind {
                // A code that was taken meanwhile is not taken again.
                restored.secondFactors[index].kind = .totp(sealedSecret: secret, lastStep: last)
            }
            back.secondFactors.removeAll { $0.id == id }
        }
        return isIncomplete
    }
}
