import Domain
import Foundation
import Testing

@Suite("Accounts")
struct AccountTests {
    @Test("T-A13: without an address a password and email links are no way in")
    func countsWaysIn() {
        var account = Account(id: AccountID("A"), validSince: 0, createdAt: Date(timeIntervalSince1970: 0))
        account.hasPassword = true
        account.emailLinkSignIn = true
        account.phoneNumber = "+491701234567"
        account.linked = [LinkedCredential(provider: .google, subject: "1")]
        #expect(account.methods == [.password, .emailLink, .phone, .google])
        #expect(account.waysIn == [.phone, .google])
        account.email = Samples.email
        #expect(account.waysIn == account.methods)
    }
}
