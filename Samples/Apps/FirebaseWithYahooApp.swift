// Not built on Linux: Samples/scripts/check-apple type-checks it there.
// swift-format-ignore-file: NeverForceUnwrap
#if canImport(SwiftUI)
import FirebaseWithYahooSample
import IdentityClient
import SwiftUI

@main struct FirebaseWithYahooApp: App {
    var body: some Scene {
        WindowGroup { FirebaseWithYahooView() }
    }
}

struct FirebaseWithYahooView: View {
    @State private var auth: Auth?
    @State private var password = ""
    @State private var message = "Not signed in"

    var body: some View {
        List {
            Text(message)
            SecureField("Password, if you have one", text: $password)
            Button("Sign in with Yahoo") { run { try await $0.signIn(using: $1) { [password] _ in password } } }
            Button("Link Yahoo") { run { try await $0.link(using: $1) } }
            Button("Delete account") { run { try await $0.delete(using: $1) } }
        }
        .task { open() }
    }

    private func open() {
        do throws(AuthError) {
            auth = try Auth(
                url: URL(string: "https://auth.example.com")!,
                apiKey: "AIza…",
                storage: KeychainSessionStorage(service: "com.example.yahoo")
            )
        } catch { message = error.description }
    }

    private func run(_ action: @escaping @MainActor (FirebaseWithYahoo, WebAuthenticationSession) async throws -> Any) {
        guard let auth else { return }
        let browser = WebAuthenticationSession(redirectURI: URL(string: "com.example.app:/callback")!)
        Task {
            do { _ = try await action(FirebaseWithYahoo(auth: auth), browser) } catch {
                message = "\(error)"
                return
            }
            message = auth.currentUser.map { "Signed in as \($0.email ?? $0.uid)" } ?? "Not signed in"
        }
    }
}
#endif
