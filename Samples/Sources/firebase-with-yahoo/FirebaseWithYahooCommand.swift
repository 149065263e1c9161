import FirebaseWithYahooSample
import IdentityClient
import SampleSupport

@main struct FirebaseWithYahooCommand {
    static func main() async {
        await Sample.run { sample in
            let auth = try sample.auth()
            let yahoo = FirebaseWithYahoo(auth: auth)
            let browser = try sample.browser(.add(email: sample.email))
            let password = "correct horse"

            // R-25, R-29, R-41: a new account.
            let result = try await yahoo.signIn(using: browser) { _ in password }
            try sample.expect(result.additionalUserInfo.isNewUser, "Signed in with a new account")
            // R-22, R-26: what the page was asked for.
            let scope = await browser.parameter("scope")
            try sample.expect(scope == "openid profile email mail-r sdct-w", "Asked for \(scope ?? "nothing")")
            for (name, value) in yahoo.provider.customParameters {
                let sent = await browser.parameter(name)
                try sample.expect(sent == value, "Sent \(name)=\(value)")
            }
            // R-30, R-31: the profile, both tokens, and Yahoo's own user ID.
            let subject = result.user.providerData.first?.uid
            try sample.expect(
                result.credential?.accessToken != nil && result.credential?.idToken != nil && subject != nil
                    && result.additionalUserInfo.profile("sub") == subject,
                "Received the profile and Yahoo's tokens"
            )
            // R-32: the access token works at Yahoo.
            let userInfo = await browser.providerURL("userinfo")
            let profile = try await sample.get(userInfo, token: result.credential?.accessToken)
            try sample.expect(profile["sub"] as? String == subject, "Called Yahoo's API")

            // R-27: Firebase's own parameters are refused.
            var reserved = yahoo.provider
            reserved.customParameters = ["client_id": "another"]
            try await sample.expectError("Refused client_id as a custom parameter") { [reserved] in
                try await auth.signIn(with: reserved, using: browser)
            }
            // R-38, R-39: an access token alone signs in nobody.
            try await sample.expectError("Refused an access token without its code") {
                try await auth.signIn(
                    with: OAuthProvider.credential(
                        providerID: "yahoo.com",
                        accessToken: result.credential?.accessToken
                    )
                )
            }

            // R-34: only the same user reauthenticates, and may then delete the account.
            let stranger = try sample.browser(.add(email: "other-" + sample.email))
            let mismatch = try await sample.expectError("Refused to reauthenticate another user") {
                try await yahoo.delete(using: stranger)
            }
            guard case .userMismatch = mismatch else { throw mismatch }
            let before = try await result.user.idTokenResult().authDate
            try await result.user.reauthenticate(with: yahoo.provider, using: browser)
            let after = try await result.user.idTokenResult().authDate
            try sample.expect(after >= before, "Reauthenticated")
            try await yahoo.delete(using: browser)
            try sample.expect(auth.currentUser == nil, "Deleted the account")

            // R-33: Yahoo and the password open the same account.
            let user = try await auth.createUser(withEmail: "linked-" + sample.email, password: password).user
            _ = try await yahoo.link(using: browser)
            try sample.expect(
                user.providerData.map(\.providerID).sorted() == ["password", "yahoo.com"],
                "Linked Yahoo to the account with a password"
            )
            try await auth.signOut()  // R-43
            let again = try await yahoo.signIn(using: browser) { _ in password }
            try sample.expect(again.user.uid == user.uid, "Signed in to it with Yahoo")
            try await auth.signOut()

            // R-35, R-36, R-37: the email has an account with a password.
            let email = "known-" + sample.email
            let known = try await auth.createUser(withEmail: email, password: password).user
            try await auth.signOut()
            let known2 = try sample.browser(.add(email: email))
            let resumed = try await yahoo.signIn(using: known2) { asked in
                print("ok      The conflict asks for the password of \(asked)")
                return password
            }
            try sample.expect(
                resumed.user.uid == known.uid && resumed.user.providerData.contains { $0.providerID == "yahoo.com" },
                "Resolved the conflict without another visit to Yahoo"
            )
        }
    }
}
