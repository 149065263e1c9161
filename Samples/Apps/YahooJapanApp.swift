// Not built on Linux: Samples/scripts/check-apple type-checks it there.
// swift-format-ignore-file: NeverForceUnwrap
#if canImport(SwiftUI)
import IdentityClient
import SwiftUI
import YahooJapanSample

@main struct YahooJapanApp: App {
    var body: some Scene {
        WindowGroup { YahooJapanView() }
    }
}

struct YahooJapanView: View {
    @State private var yahoo: YahooJapan?
    @State private var message = "Not signed in"

    var body: some View {
        List {
            Text(message)
            ForEach(YahooJapan.Flow.allCases, id: \.self) { flow in
                Button("Sign in with \(flow.rawValue)") { Task { await signIn(flow) } }
            }
        }
        .task { open() }
    }

    private func open() {
        do throws(AuthError) {
            let auth = try Auth(
                url: URL(string: "https://auth.example.com")!,
                apiKey: "AIza…",
                storage: KeychainSessionStorage(service: "com.example.yahoo-japan")
            )
            yahoo = YahooJapan(auth: auth)
        } catch { message = error.description }
    }

    private func signIn(_ flow: YahooJapan.Flow) async {
        // The scheme of the client ID, which the provider's definition.redirectURIs lists.
        let browser = WebAuthenticationSession(redirectURI: URL(string: "yj-xxxxx:/")!)
        do throws(AuthError) {
            guard let result = try await yahoo?.signIn(flow, prompt: .login, using: browser) else { return }
            message = "Signed in as \(result.user.displayName ?? result.user.uid)"
        } catch .cancelled {
            message = "Not signed in"
        } catch { message = error.description }
    }
}
#endif
