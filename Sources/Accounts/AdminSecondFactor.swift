package import struct Foundation.Date
import Domain
import Projects
import Secrets
import Text

/// A second factor in an admin's request: a phone, or an authenticator app that is already enrolled.
package struct AdminSecondFactor: Sendable {
    /// Nil generates one.
    package var id: String?
    /// Nil for an app.
    package var phoneNumber: String?
    package var displayName: String?
    /// Nil for now.
    package var enrolledAt: Date?
    /// An app's shared secret; only used for imported accounts.
    package var sharedSecret: [UInt8]?
    /// Whether the request describes a factor that cannot be imported without a secret or at all: an app, or an email.
    package var needsSecret = false

    package init() {}
}

extension AccountsService {
    /// The new factors of an account; duplicate numbers count once.
    func secondFactors(
        _ wanted: [AdminSecondFactor],
        of account: Account
    ) throws(AccountsError) -> [SecondFactor] {
        var factors: [SecondFactor] = []
        for entry in wanted {
            let current = account.secondFactors.first { $0.id == entry.id }
            let id = try enrollmentID(entry.id)
            let name = try ProfileRules.displayName(entry.displayName)
            let enrolledAt = entry.enrolledAt ?? current?.enrolledAt ?? now()
            let kind: SecondFactor.Kind
            if let number = try AdminAccounts.phoneNumber(entry.phoneNumber) {
                guard !factors.contains(where: { $0.phoneNumber == number }) else { continue }
                kind = .phone(number)
            } else {
                guard let current, current.isTOTP else { throw .secondFactor(.appAddedByAdmin) }
                kind = current.kind
            }
            guard !factors.contains(where: { $0.id == id }) else { throw .secondFactor(.duplicateEnrollment) }
            factors.append(SecondFactor(id: id, kind: kind, displayName: name, enrolledAt: enrolledAt))
        }
        guard factors.count(where: { !$0.isTOTP }) <= SecondFactor.mostPhones else {
            throw .secondFactor(.tooManyPhones)
        }
        return factors
    }

    /// The factors of an account that does not exist yet.
    func newSecondFactors(
        _ wanted: [AdminSecondFactor],
        of account: Account
    ) throws(AccountsError) -> [SecondFactor] {
        do {
            return try secondFactors(wanted, of: account)
        } catch .invalidPhoneNumber {
            throw .secondFactor(.invalidPhoneNumberOfNewAccount)
        } catch {
            throw error
        }
    }

    private func enrollmentID(_ text: String?) throws(AccountsError) -> String {
        guard let text else { return random.uuid() }
        guard (1...128).contains(text.utf8.count), text.consists(of: .visible), !text.contains("/") else {
            throw .secondFactor(.invalidEnrollment)
        }
        return text
    }
}
