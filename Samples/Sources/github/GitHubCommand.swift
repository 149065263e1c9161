import Foundation
import GitHubSample
import IdentityClient
import SampleSupport

@main struct GitHubCommand {
    /// The app's own scheme, with capital letters in the host (R-55).
    static let redirectURI = "yyokii://GithubSearchApp"

    static func main() async {
        await Sample.run { sample in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let storage = FileSessionStorage(file: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let gitHub = GitHub(auth: try sample.auth(storage: storage))
            let browser = try sample.browser(.add(email: sample.email), redirectURI: redirectURI)
            let result = try await gitHub.signIn(using: browser)

            // R-61, R-62: the page got a scope and a state, and no secret.
            let scope = await browser.parameter("scope")
            try sample.expect(scope == "read:user user:email public_repo", "Asked for \(scope ?? "nothing")")
            let state = await browser.parameter("state")
            let secret = await browser.parameter("client_secret")
            try sample.expect((state ?? "").count >= 32 && secret == nil, "Sent a state, and no client secret")
            // R-58: an access token alone.
            try sample.expect(
                result.credential?.accessToken != nil && result.credential?.idToken == nil
                    && result.credential?.refreshToken == nil && result.credential?.lifetime == nil,
                "Received an access token without an end"
            )

            // R-60: the API's header has the word "token".
            let token = try await gitHub.accessToken()
            let api = await browser.providerURL("api/user")
            let profile = try await sample.get(api, scheme: "token", token: token)
            let login = result.additionalUserInfo.username
            try sample.expect(profile["login"] as? String == login, "Called GitHub's API as \(login ?? "nobody")")

            // R-77: the next launch needs no browser.
            let launched = GitHub(auth: try sample.auth(storage: storage))
            try sample.expect(launched.user?.uid == result.user.uid, "Still signed in after a launch")
            let kept = try await launched.accessToken()
            try sample.expect(kept == token, "The service still has the access token")

            // R-38: GitHub says for which client a token was made, so it can sign in by itself.
            let direct = try await sample.auth().signIn(with: GitHubAuthProvider.credential(withToken: token))
            try sample.expect(direct.user.uid == result.user.uid, "Signed in with the access token alone")
            // A made-up one cannot.
            try await sample.expectError("Refused a made-up access token") {
                try await sample.auth().signIn(with: GitHubAuthProvider.credential(withToken: "gho_none"))
            }
            // R-52: the user does not allow it.
            let refusing = try sample.browser(.cancel, redirectURI: redirectURI)
            try await sample.expectCancellation("The user cancelled") {
                try await GitHub(auth: sample.auth()).signIn(using: refusing)
            }
        }
    }
}
