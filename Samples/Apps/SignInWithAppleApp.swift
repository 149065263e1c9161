// Not built on Linux: Samples/scripts/check-apple type-checks it there.
// swift-format-ignore-file: NeverForceUnwrap
#if canImport(SwiftUI)
import AppleSample
import IdentityClient
import SwiftUI

@main struct SignInWithAppleApp: App {
    var body: some Scene {
        WindowGroup { SignInWithAppleView() }
    }
}

struct SignInWithAppleView: View {
    @State private var apple: AppleAccount?
    @State private var message = ""

    var body: some View {
        List {
            Text(message)
            // The App Store requires Apple's own button: ASAuthorizationAppleIDButton.
            Button("Sign in with Apple") { Task { await signIn() } }
            Button("Delete account") { Task { await delete() } }
        }
        .task { await launch() }
    }

    private func launch() async {
        do throws(AuthError) {
            let auth = try Auth(
                url: URL(string: "https://auth.example.com")!,
                apiKey: "AIza…",
                storage: KeychainSessionStorage(service: "com.example.apple")
            )
            let apple = AppleAccount(auth: auth)
            self.apple = apple
            switch try await apple.launch() {
            case .authorized: show()
            case .revoked: message = "You no longer allow this app at Apple. Sign in again."
            case .notFound: message = "Sign up with Apple"
            }
        } catch { message = error.description }
    }

    private func signIn() async {
        do throws(AuthError) {
            _ = try await apple?.signIn(with: SignInWithApple().credential())
            show()
        } catch .cancelled {
        } catch { message = error.description }
    }

    private func delete() async {
        do throws(AuthError) {
            // A new code, to revoke the app's permission at Apple.
            let sheet = SignInWithApple(scopes: [])
            _ = try await sheet.credential()
            try await apple?.delete(authorizationCode: sheet.authorizationCode)
            show()
        } catch { message = error.description }
    }

    private func show() {
        message = apple?.user.map { "Signed in as \($0.displayName ?? $0.uid)" } ?? "Not signed in"
    }
}
#endif
