import FeedlySample
import Foundation
import IdentityClient
import SampleSupport

@main struct FeedlyCommand {
    /// As registered for the sandbox: without a slash at the end (R-47).
    static let redirectURI = "http://localhost"

    static func main() async {
        await Sample.run { sample in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let url = sample.url
            let makeAuth = { @Sendable (slot: Int) throws(AuthError) in
                let file = FileSessionStorage(file: folder.appendingPathComponent("\(slot).session"))
                return try Auth(url: url, apiKey: "any", storage: file)
            }
            let list = try FeedlyAccounts(makeAuth: makeAuth)

            let browser = try sample.browser(.add(email: sample.email), redirectURI: redirectURI)
            let result = try await list.add(using: browser)
            // R-45, R-47: the scope is a URL, the redirect URI as registered, although the browser returned to
            // http://localhost/.
            let scope = await browser.parameter("scope")
            try sample.expect(scope == "https://cloud.feedly.com/subscriptions", "Asked for \(scope ?? "nothing")")
            if await browser.parameter("redirect_uri") == redirectURI {
                let returned = await browser.callback?.url.absoluteString ?? ""
                try sample.expect(returned.hasPrefix("http://localhost/?"), "Returned to http://localhost/")
            }
            // R-49: the whole profile.
            try sample.expect(
                result.additionalUserInfo.profile("email") == sample.email
                    && result.additionalUserInfo.profile("wave") != nil,
                "Received the profile"
            )
            try sample.expect(
                result.credential?.refreshToken != nil && result.credential?.lifetime != nil
                    && result.credential?.idToken == nil,
                "Received an access token that expires, and a refresh token"
            )

            // R-49: the app asks for a current token before each call.
            let token = try await list.accessToken(of: result.user)
            let profile = try await sample.get(
                browser.providerURL("v3/profile"),
                scheme: "OAuth",
                token: token.accessToken
            )
            try sample.expect(profile["email"] as? String == sample.email, "Called Feedly's API")
            // R-51: when it has expired, the service renews it with the refresh token. The session renews itself too.
            if try sample.letPass(hours: 2) {
                let api = await browser.providerURL("v3/profile")
                let expired = try await sample.get(api, scheme: "OAuth", token: token.accessToken)
                let renewed = try await list.accessToken(of: result.user)
                let answer = try await sample.get(api, scheme: "OAuth", token: renewed.accessToken)
                try sample.expect(
                    expired["email"] == nil && answer["email"] as? String == sample.email,
                    "Called Feedly's API with a renewed token, two hours later"
                )
            }

            // R-50: a list of accounts, which the next start restores.
            let other = try sample.browser(.add(email: "other-" + sample.email), redirectURI: redirectURI)
            _ = try await list.add(using: other)
            let restored = try FeedlyAccounts(makeAuth: makeAuth)
            let emails = await restored.accounts.compactMap(\.email)
            try sample.expect(emails == [sample.email, "other-" + sample.email], "Listed \(emails.count) accounts")

            // R-52: a failure leaves the list as it was.
            let refusing = try sample.browser(.cancel, redirectURI: redirectURI)
            try await sample.expectCancellation("The user cancelled") { try await restored.add(using: refusing) }
            let count = await restored.accounts.count
            try sample.expect(count == 2, "The list is as before")

            // R-50: an account signs out.
            guard let account = await restored.accounts.first else { throw Failure("the list is empty") }
            try await restored.remove(account)
            let rest = await restored.accounts.compactMap(\.email)
            try sample.expect(rest == ["other-" + sample.email], "Signed out \(sample.email)")

            // R-50: unlinking Feedly also deletes its tokens.
            guard let last = await restored.accounts.first else { throw Failure("the list is empty") }
            try await last.updatePassword(to: "correct horse")
            try await last.unlink(fromProvider: FeedlyAccounts.id)
            try await sample.expectError("Unlinked Feedly; its token is deleted") {
                try await restored.accessToken(of: last)
            }
        }
    }
}
