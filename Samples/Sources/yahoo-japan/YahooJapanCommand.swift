import IdentityClient
import SampleSupport
import YahooJapanSample

@main struct YahooJapanCommand {
    /// The app's own scheme, with an empty authority (R-08).
    static let redirectURI = "yj-xxxxx:/"

    static func main() async {
        await Sample.run { sample in
            let auth = try sample.auth()
            let yahoo = YahooJapan(auth: auth)
            let browser = try sample.browser(.add(email: sample.email), redirectURI: redirectURI)

            // R-01, R-02, R-12: each flow opens the same account; hybrid responses arrive in the fragment.
            var uid: String?
            for flow in YahooJapan.Flow.allCases {
                let result = try await yahoo.signIn(flow, prompt: .login, using: browser)
                let isHybrid = await browser.callback?.url.fragment != nil
                try sample.expect(
                    result.user.uid == uid ?? result.user.uid && isHybrid == (flow != .code),
                    "Signed in with \(flow.rawValue)"
                )
                uid = result.user.uid

                // R-13, R-16, R-30: the tokens and the profile of one user.
                let subject = result.user.providerData.first?.uid
                try sample.expect(
                    subject != nil && result.additionalUserInfo.profile("sub") == subject
                        && result.credential?.idToken != nil && result.credential?.refreshToken != nil,
                    "Received the ID token, the refresh token and the profile"
                )
                // R-15: the access token of the fragment is another one than the token endpoint's.
                if flow == .codeAndToken || flow == .codeAndBoth {
                    let fragment = await browser.callback?.url.fragment ?? ""
                    try sample.expect(
                        fragment.contains("access_token=")
                            && !fragment.contains(result.credential?.accessToken ?? "access_token"),
                        "Received the token endpoint's access token, not the fragment's"
                    )
                }
            }

            // R-03, R-05, R-06, R-07, R-09: the page's parameters; the service chose state and nonce.
            let scope = await browser.parameter("scope")
            try sample.expect(scope == "openid profile email address", "Asked for \(scope ?? "nothing")")
            for (name, value) in ["display": "touch", "prompt": "login", "max_age": "3600", "bail": "1"] {
                let sent = await browser.parameter(name)
                try sample.expect(sent == value, "Sent \(name)=\(value)")
            }
            let state = await browser.parameter("state")
            let nonce = await browser.parameter("nonce")
            try sample.expect((state ?? "").count >= 32 && (nonce ?? "").count >= 32, "Sent state and nonce")

            // R-16: the access token works at Yahoo! JAPAN.
            let token = try await yahoo.accessToken()
            let attributes = try await sample.get(browser.providerURL("attribute"), token: token)
            try sample.expect(attributes["email"] as? String == sample.email, "Called the UserInfo API")
            // R-17: when it has expired, the service renews it.
            if try sample.letPass(hours: 2) {
                let renewed = try await yahoo.accessToken()
                let later = try await sample.get(browser.providerURL("attribute"), token: renewed)
                try sample.expect(
                    renewed != token && later["email"] as? String == sample.email,
                    "Called the UserInfo API with a renewed token, two hours later"
                )
            }

            // R-04: nobody is signed in at Yahoo! JAPAN.
            let silent = try await sample.expectError("Refused with prompt=none") {
                try await yahoo.signIn(prompt: YahooJapan.Prompt.none, using: browser)
            }
            guard case .refused(let refusal) = silent else { throw silent }
            try sample.expect(refusal.detail == "interaction_required", "The user must sign in at Yahoo! JAPAN")

            // R-06, R-52: the user does not consent.
            let refusing = try sample.browser(.cancel, redirectURI: redirectURI)
            try await sample.expectCancellation("The user cancelled") { try await yahoo.signIn(using: refusing) }
            try sample.expect(auth.currentUser?.uid == uid, "The session continues")
        }
    }
}
