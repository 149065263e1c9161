import struct Foundation.Date

/// The result of merging one account into another account of the same user.
///
/// A pure function of both accounts and of the methods that an admin drops. The survivor keeps what it has and takes
/// what it lacks. What conflicts with its own must be dropped by the admin. A merge never makes anything verified.
package struct AccountMerge: Sendable, Hashable {
    /// The name of second factors among sign-in methods.
    package static let secondFactors: ProviderID = "mfa"
    /// The name of the email among conflicts, and among what an undo leaves.
    package static let email: ProviderID = "email"

    package struct Conflict: Sendable, Hashable {
        /// An identity provider, `password`, `phone`, `emailLink`, `passkey`, `mfa` or `email`, which cannot be dropped.
        package var method: ProviderID
        package var reason: Reason
    }

    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The survivor already has one.
        case alreadyLinked
        /// It belongs to an email that the survivor does not take.
        case otherAddress
        /// Of the password: its email is not verified, but it would open an account with a verified email.
        ///
        /// Of the email: it is not verified, and it would be the email of an account with what the other one brings.
        case emailNotVerified
        /// Accounts with second factors cannot sign in by phone, and one of the two has some.
        case phoneSignIn
        /// More second factors or passkeys than the limit for an account.
        case tooMany
        /// Both have a second factor with the same ID.
        case enrollmentExists
    }

    /// The survivor after the merge, as if all conflicts had been dropped.
    package private(set) var survivor: Account
    /// The merged account afterwards: with what it still holds, and unable to sign in.
    package private(set) var rest: Account
    /// Sign-in methods that the survivor takes, sorted.
    package private(set) var moved: [ProviderID] = []
    /// Second factors that the survivor takes, as the merged account had them.
    package private(set) var movedFactors: [SecondFactor] = []
    /// Sign-in methods that are dropped, sorted, including second factors.
    package private(set) var givenUp: [ProviderID] = []
    package private(set) var conflicts: [Conflict] = []
    /// The data that an undo needs.
    package private(set) var record: MergeRecord

    /// - Parameters:
    ///   - dropped: methods of the merged account that the admin drops.
    ///   - seconds: since 1970.
    package init(of merged: Account, into survivor: Account, dropping dropped: Set<ProviderID>, seconds: Int64) {
        var after = survivor
        var rest = merged
        after.version += 1
        rest.version += 1
        after.customAuth = survivor.customAuth || merged.customAuth
        rest.disabled = true
        rest.validSince = max(rest.validSince, seconds)
        record = MergeRecord(before: MergeRecord.Fields(survivor), wasDisabled: merged.disabled)
        if survivor.email == nil, let email = merged.email {
            (after.email, after.emailVerified) = (email, merged.emailVerified)
            (rest.email, rest.emailVerified) = (nil, false)
            record.email = email.canonical
            record.emailVerified = merged.emailVerified
        }
        // A password without an email cannot sign in, so it is not moved.
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
            // A phone number that both accounts have stays with both.
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
        if Self.isEndangered(survivor, merged, in: after, movesMethods: !moved.isEmpty || !movedFactors.isEmpty) {
            conflicts.insert(Conflict(method: Self.email, reason: .emailNotVerified), at: 0)
        }
        after.profile.fill(from: merged.profile)
        record.moved = moved
        record.phoneNumber = moved.contains(.phone) ? merged.phoneNumber : nil
        if moved.contains(.passkey) {
            record.passkeys = merged.passkeys.map(\.id)
            record.passkeyRecords = merged.passkeys
        }
        for credential in merged.linked where moved.contains(credential.provider) {
            record.subjects[credential.provider.rawValue] = credential.subject
        }
        record.factors = movedFactors.map(\.id)
        record.after = MergeRecord.Fields(after)
        self.survivor = after
        self.rest = rest
    }

    /// Replaces the moved second factors with copies whose secrets are sealed for the survivor.
    package mutating func seal(_ factors: [SecondFactor]) {
        let moved = Set(movedFactors.map(\.id))
        survivor.secondFactors = survivor.secondFactors.filter { !moved.contains($0.id) } + factors
    }

    /// Whether the account would have an unverified email, and methods that were not that email's account's before.
    ///
    /// The user who verifies the email takes the account over, and all methods end (T-A7): a merge must not put more
    /// at stake than there was.
    private static func isEndangered(
        _ survivor: Account,
        _ merged: Account,
        in after: Account,
        movesMethods: Bool
    ) -> Bool {
        guard after.email != nil, !after.emailVerified else { return false }
        if survivor.email == nil { return !survivor.waysIn.isEmpty || !survivor.secondFactors.isEmpty }
        return merged.emailVerified || movesMethods
    }

    /// Why a method cannot move; nil if it can.
    private static func reason(against method: ProviderID, of merged: Account, in survivor: Account) -> Reason? {
        switch method {
        case .password:
            if survivor.hasPassword { return .alreadyLinked }
            return survivor.emailVerified && !merged.emailVerified ? .emailNotVerified : nil
        case .phone:
            if survivor.phoneNumber != nil { return .alreadyLinked }
            return !survivor.secondFactors.isEmpty && merged.secondFactors.isEmpty ? .phoneSignIn : nil
        case .emailLink: return survivor.email == nil ? nil : .otherAddress
        case .passkey: return survivor.passkeys.count + merged.passkeys.count > Passkey.most ? .tooMany : nil
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
        case .passkey:
            after.passkeys += rest.passkeys
            rest.passkeys = []
        default:
            after.linked += rest.linked.filter { $0.provider == method }
            after.linked.sort { $0.provider.rawValue < $1.provider.rawValue }
            rest.linked.removeAll { $0.provider == method }
        }
    }
}

/// What a merge moved and the survivor's earlier values: enough to undo it.
package struct MergeRecord: Sendable, Hashable, Codable {
    /// The values that an undo compares with the current ones.
    package struct Fields: Sendable, Hashable, Codable {
        /// By the names of ``Profile/ofAccounts``.
        var profile: [String: String]
        var emailLinkSignIn: Bool
        var passwordUpdatedAt: Date?

        init(_ account: Account) {
            let texts = Profile.ofAccounts.map { ($0.name, account.profile[$0]) }
            profile = Dictionary(uniqueKeysWithValues: texts).compactMapValues(\.self)
            emailLinkSignIn = account.emailLinkSignIn
            passwordUpdatedAt = account.passwordUpdatedAt
        }

        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            emailLinkSignIn = try values.decode(Bool.self, forKey: .emailLinkSignIn)
            passwordUpdatedAt = try values.decodeIfPresent(Date.self, forKey: .passwordUpdatedAt)
            do { profile = try values.decode([String: String].self, forKey: .profile) } catch {
                // Records of before the first release have a list.
                let names = ["displayName", "photoURL", "screenName", "language", "timeZone", "dateOfBirth"]
                let texts = zip(names, try values.decode([String?].self, forKey: .profile))
                profile = Dictionary(uniqueKeysWithValues: texts.map { ($0, $1) }).compactMapValues(\.self)
            }
        }
    }

    package internal(set) var moved: [ProviderID] = []
    /// The subjects of the moved identities, by provider.
    var subjects: [String: String] = [:]
    /// Canonical; nil if the email did not move.
    var email: String?
    var emailVerified = false
    var phoneNumber: String?
    /// The IDs of the moved second factors.
    var factors: [String] = []
    /// The IDs of the moved passkeys; nil for none.
    var passkeys: [String]?
    /// The moved passkeys themselves, which are stored nowhere once they are detached; nil for none.
    var passkeyRecords: [Passkey]?
    var before: Fields
    var after: Fields
    var wasDisabled: Bool?

    init(before: Fields, wasDisabled: Bool?) {
        (self.before, self.wasDisabled) = (before, wasDisabled)
        after = before
    }
}
