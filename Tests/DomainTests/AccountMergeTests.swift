import Domain
import Foundation
import Testing

@Suite("Results of a merge")
struct AccountMergeTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func account(_ id: String, _ change: (inout Account) -> Void = { _ in }) -> Account {
        var account = Account(id: AccountID(id), validSince: 0, createdAt: Self.start)
        change(&account)
        return account
    }

    private func factor(_ id: String, _ number: String?) -> SecondFactor {
        let kind: SecondFactor.Kind = number.map { .phone($0) } ?? .totp(sealedSecret: [1], lastStep: 0)
        return SecondFactor(id: id, kind: kind, displayName: nil, enrolledAt: Self.start)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var method: ProviderID
        var survivor: @Sendable (inout Account) -> Void
        var merged: @Sendable (inout Account) -> Void
        /// Nil for what moves.
        var reason: AccountMerge.Reason?
    }

    private static let google = LinkedCredential(provider: .google, subject: "1")

    private static func has(email: String?, verified: Bool = false) -> @Sendable (inout Account) -> Void {
        { account in
            account.email = email.flatMap { EmailAddress($0) }
            account.emailVerified = verified
        }
    }

    static let cases: [Case] = [
        Case(testDescription: "an identity", method: .google, survivor: { _ in }, merged: { $0.linked = [google] }),
        Case(
            testDescription: "another identity of the provider",
            method: .google,
            survivor: { $0.linked = [LinkedCredential(provider: .google, subject: "2")] },
            merged: { $0.linked = [google] },
            reason: .alreadyLinked
        ),
        Case(testDescription: "a phone", method: .phone, survivor: { _ in }, merged: { $0.phoneNumber = "+1" }),
        Case(
            testDescription: "another phone",
            method: .phone,
            survivor: { $0.phoneNumber = "+2" },
            merged: { $0.phoneNumber = "+1" },
            reason: .alreadyLinked
        ),
        password("with its address", nil, "b@x.com"),
        password("verified on both sides", ("a@x.com", true), "b@x.com", true),
        password("not verified, to a verified address", ("a@x.com", true), "b@x.com", false, .emailNotVerified),
        Case(
            testDescription: "an email link with its address",
            method: .emailLink,
            survivor: has(email: nil),
            merged: {
                has(email: "b@x.com")(&$0)
                $0.emailLinkSignIn = true
            }
        ),
        Case(
            testDescription: "an email link without its address",
            method: .emailLink,
            survivor: has(email: "a@x.com"),
            merged: {
                has(email: "b@x.com")(&$0)
                $0.emailLinkSignIn = true
            },
            reason: .otherAddress
        ),
    ]

    private static func password(
        _ name: String,
        _ survivor: (String, Bool)?,
        _ merged: String,
        _ verified: Bool = false,
        _ reason: AccountMerge.Reason? = nil
    ) -> Case {
        Case(
            testDescription: "a password, \(name)",
            method: .password,
            survivor: has(email: survivor?.0, verified: survivor?.1 ?? false),
            merged: {
                has(email: merged, verified: verified)(&$0)
                $0.hasPassword = true
            },
            reason: reason
        )
    }

    @Test("each method moves, or is in conflict until it is given up", arguments: cases)
    func methods(_ example: Case) {
        let survivor = account("a", example.survivor)
        let merged = account("b", example.merged)
        let merge = AccountMerge(of: merged, into: survivor, dropping: [], seconds: 9)
        #expect(merge.conflicts.map(\.reason) == (example.reason.map { [$0] } ?? []))
        #expect(merge.moved == (example.reason == nil ? [example.method] : []))
        #expect(merge.givenUp == (example.reason == nil ? [] : [example.method]))
        #expect(
            merge.survivor.methods.contains(example.method) != merge.rest.methods.contains(example.method)
                || survivor.methods.contains(example.method)
        )
        #expect(merge.rest.isDisabled && merge.rest.validSince == 9 && merge.survivor.validSince == 0)
        #expect(!merge.survivor.emailVerified || survivor.emailVerified || merged.emailVerified)
        let dropped = AccountMerge(of: merged, into: survivor, dropping: [example.method], seconds: 9)
        #expect(dropped.conflicts.isEmpty && dropped.moved.isEmpty && dropped.givenUp == [example.method])
        #expect(dropped.rest.methods.contains(example.method))
    }

    @Test("second factors fit, are the same, or are in conflict")
    func secondFactors() {
        func merge(_ own: [SecondFactor], _ others: [SecondFactor], phones: Bool = false) -> AccountMerge {
            let survivor = account("a") {
                $0.secondFactors = own
                $0.phoneNumber = phones ? "+9" : nil
            }
            return AccountMerge(
                of: account("b") { $0.secondFactors = others },
                into: survivor,
                dropping: [],
                seconds: 9
            )
        }
        let fits = merge([factor("1", "+1"), factor("2", nil)], [factor("3", "+1"), factor("4", "+2")])
        #expect(fits.movedFactors.map(\.id) == ["4"] && fits.survivor.secondFactors.map(\.id) == ["1", "2", "4"])
        #expect(fits.rest.secondFactors.map(\.id) == ["3", "4"], "for an undo")
        #expect(merge([factor("1", nil)], [factor("2", nil)]).conflicts.map(\.reason) == [.tooMany])
        let many = (1...5).map { factor("\($0)", "+\($0)") }
        #expect(merge(many, [factor("6", "+6")]).conflicts.map(\.reason) == [.tooMany])
        #expect(merge([factor("1", "+1")], [factor("1", "+2")]).conflicts.map(\.reason) == [.enrollmentExists])
        #expect(merge([], [factor("1", "+1")], phones: true).conflicts.map(\.reason) == [.phoneSignIn])
        #expect(merge([factor("2", "+2")], [factor("1", "+1")], phones: true).conflicts.isEmpty)
    }

    @Test("profile, claims and what is said of the account: its own first, the other's where it has none")
    func profile() {
        let merge = AccountMerge(
            of: account("b") {
                ($0.displayName, $0.language, $0.customAttributes, $0.initialEmail) = ("B", "de", "{}", "old@x.com")
            },
            into: account("a") { $0.displayName = "A" },
            dropping: [],
            seconds: 9
        )
        #expect(merge.survivor.displayName == "A" && merge.survivor.language == "de")
        #expect(merge.survivor.customAttributes == nil && merge.survivor.initialEmail == nil)
        #expect(merge.rest.displayName == "B" && merge.rest.customAttributes == "{}")
    }

    @Test("an undo moves unchanged values back, and leaves changed ones")
    func undo() {
        let survivor = account("a")
        let merged = account("b") {
            ($0.email, $0.emailVerified) = (EmailAddress("b@x.com"), true)
            ($0.hasPassword, $0.passwordUpdatedAt, $0.phoneNumber) = (true, Self.start, "+1")
            ($0.linked, $0.displayName, $0.disabled) = ([Self.google], "B", false)
            $0.secondFactors = [factor("1", "+2"), factor("2", nil)]
        }
        let merge = AccountMerge(of: merged, into: survivor, dropping: [], seconds: 9)
        let whole = MergeUndo(of: merge.record, survivor: merge.survivor, merged: merge.rest, seconds: 12)
        var expected = merged
        (expected.version, expected.validSince) = (3, 12)
        #expect(whole.restored == expected && whole.left.isEmpty)
        #expect(whole.survivor.methods.isEmpty && whole.survivor.email == nil && whole.survivor.displayName == nil)
        var changed = merge.survivor
        changed.emailVerified = false
        changed.phoneNumber = "+3"
        changed.linked = []
        changed.displayName = "C"
        changed.secondFactors.removeFirst()
        changed.disabled = true
        let part = MergeUndo(of: merge.record, survivor: changed, merged: merge.rest, seconds: 12)
        #expect(part.left == ["email", .google, .password, .phone, AccountMerge.secondFactors])
        #expect(part.restored.methods.isEmpty && part.restored.email == nil && part.restored.isDisabled)
        #expect(part.restored.secondFactors.map(\.id) == ["2"])
        #expect(part.survivor.displayName == "C" && part.survivor.hasPassword && part.survivor.phoneNumber == "+3")
    }
    @Test("a record of before the first release, with a list of the profile, is read as it was meant")
    func earlierRecord() throws {
        let survivor = account("S") { $0.timeZone = "Asia/Tokyo" }
        let merged = account("M") { ($0.displayName, $0.dateOfBirth) = ("B", "2000-01-01") }
        let record = AccountMerge(of: merged, into: survivor, dropping: [], seconds: 9).record
        let data = try JSONEncoder().encode(record)
        #expect(try JSONDecoder().decode(MergeRecord.self, from: data) == record)
        var object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let lists: [String: [String?]] = [
            "before": [nil, nil, nil, nil, "Asia/Tokyo", nil],
            "after": ["B", nil, nil, nil, "Asia/Tokyo", "2000-01-01"],
        ]
        for (name, list) in lists {
            var fields = try #require(object[name] as? [String: Any])
            fields["profile"] = list.map { $0 ?? NSNull() as Any }
            object[name] = fields
        }
        let earlier = try JSONSerialization.data(withJSONObject: object)
        #expect(try JSONDecoder().decode(MergeRecord.self, from: earlier) == record)
    }
}
