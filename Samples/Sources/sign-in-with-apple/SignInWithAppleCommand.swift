import AppleSample
import Foundation
import IdentityClient
import SampleSupport

@main struct SignInWithAppleCommand {
    static func main() async {
        await Sample.run { sample in
            let ada = try sample.browser(.choose(name: "Ada Lovelace"))
            try await web(sample, ada)
            guard let page = await ada.providerURL("auth/authorize") else { throw Failure("no page of Apple's") }
            try await native(sample, AppleSheet(page: page, browser: sample.browser(.choose(name: "Grace Hopper"))))
        }
    }

    /// As on other systems, at Apple's web page.
    static func web(_ sample: Sample, _ browser: SampleBrowser) async throws {
        let apple = AppleAccount(auth: try sample.auth())

        // R-66, R-72: Apple posts a form, with the name at the first consent only.
        let first = try await apple.signIn(using: browser)
        let form = await browser.callback?.form ?? ""
        try sample.expect(
            form.contains("user=") && first.user.displayName == "Ada Lovelace",
            "Signed in on the web as \(first.user.displayName ?? "nobody"), whose name Apple posted"
        )
        let again = try await apple.signIn(using: browser)
        let secondForm = await browser.callback?.form ?? ""
        try sample.expect(
            !secondForm.contains("user=") && again.user.displayName == "Ada Lovelace",
            "Signed in again without the name, which stays"
        )
        // R-52: the user closes the page.
        let refusing = try sample.browser(.cancel)
        try await sample.expectCancellation("The user cancelled") { try await apple.signIn(using: refusing) }
        // R-78: the service deletes the account, and revokes the token that it has.
        try await apple.delete()
        try sample.expect(apple.user == nil, "Deleted the account")

        // R-69: Hide My Email.
        let relay = "\(UUID().uuidString.prefix(10).lowercased())@privaterelay.appleid.com"
        let hidden = try await apple.signIn(using: sample.browser(.add(email: relay)))
        let isPrivate = try await hidden.user.credentialState(for: AppleAccount.id).isPrivateEmail
        try sample.expect(hidden.user.email == relay && isPrivate == true, "Signed in with a relay address")
    }

    /// As in an app, with Apple's sheet.
    static func native(_ sample: Sample, _ sheet: AppleSheet) async throws {
        let storage = MemorySessionStorage()
        let apple = AppleAccount(auth: try sample.auth(storage: storage))

        // R-66, R-68: the name, once, and a verified email.
        let answer = try await sheet.show()
        let first = try await apple.signIn(with: answer.credential)
        try sample.expect(
            answer.fullName != nil && first.user.displayName == "Grace Hopper" && first.user.isEmailVerified,
            "Signed in as \(first.user.displayName ?? "nobody"), with a verified email"
        )
        // R-65, R-74: later, Apple returns no name.
        let later = try await sheet.show()
        let second = try await apple.signIn(with: later.credential)
        try sample.expect(
            later.fullName == nil && second.user.uid == first.user.uid && second.user.displayName == "Grace Hopper",
            "Signed in again without the name, which stays"
        )
        // R-75, R-77: the next launch needs no sheet.
        let launched = AppleAccount(auth: try sample.auth(storage: storage))
        let state = try await launched.launch()
        try sample.expect(state == .authorized && launched.user != nil, "Launched: \(state)")

        // R-75: the app's permission is revoked; the next launch signs out, and the one after it signs up.
        let code = try await sheet.show()
        try await launched.user?.revokeToken(authorizationCode: code.code, redirectURI: code.redirectURI)
        let revoked = try await launched.launch()
        try sample.expect(revoked == .revoked && launched.user == nil, "Launched: \(revoked)")
        let next = try await launched.launch()
        try sample.expect(next == .notFound, "Launched: \(next)")
        // R-66, R-75: a new consent has the name again, and opens the same account.
        let consent = try await sheet.show()
        let consented = try await launched.signIn(with: consent.credential)
        let restored = try await launched.launch()
        try sample.expect(
            consent.fullName != nil && consented.user.uid == first.user.uid && restored == .authorized,
            "Signed in after a new consent, with the name"
        )

        // R-73: a password opens the same account.
        try await consented.user.updatePassword(to: "correct horse")
        let email = consented.user.email ?? ""
        let other = try await sample.auth().signIn(withEmail: email, password: "correct horse")
        try sample.expect(other.user.uid == first.user.uid, "Signed in with a password instead")
        try await launched.delete()
        try sample.expect(launched.user == nil, "Deleted the account")
    }
}
