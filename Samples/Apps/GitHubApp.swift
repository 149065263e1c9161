// Not built on Linux: Samples/scripts/check-apple type-checks it there.
// swift-format-ignore-file: NeverForceUnwrap
#if canImport(SwiftUI)
import GitHubSample
import IdentityClient
import SwiftUI

@main struct GitHubApp: App {
    var body: some Scene {
        WindowGroup { GitHubView() }
    }
}

struct GitHubView: View {
    @State private var gitHub: GitHub?
    @State private var message = "Not signed in"

    var body: some View {
        List {
            Text(message)
            Button("Sign in with GitHub") { Task { await signIn() } }
        }
        .task { open() }
    }

    private func open() {
        do throws(AuthError) {
            let auth = try Auth(
                url: URL(string: "https://auth.example.com")!,
                apiKey: "AIza…",
                storage: KeychainSessionStorage(service: "com.example.github-search")
            )
            gitHub = GitHub(auth: auth)
            if let user = auth.currentUser { message = "Signed in as \(user.displayName ?? user.uid)" }
        } catch { message = error.description }
    }

    private func signIn() async {
        let browser = WebAuthenticationSession(redirectURI: URL(string: "yyokii://GithubSearchApp")!)
        do throws(AuthError) {
            guard let result = try await gitHub?.signIn(using: browser) else { return }
            message = "Signed in as \(result.additionalUserInfo.username ?? result.user.uid)"
        } catch .cancelled {
            message = "Not signed in"
        } catch { message = error.description }
    }
}
#endif
