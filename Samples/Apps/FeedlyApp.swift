// Not built on Linux: Samples/scripts/check-apple type-checks it there.
// swift-format-ignore-file: NeverForceUnwrap
#if canImport(SwiftUI)
import FeedlySample
import IdentityClient
import SwiftUI

@main struct FeedlyApp: App {
    var body: some Scene {
        WindowGroup { FeedlyView() }
    }
}

struct FeedlyView: View {
    @State private var list: FeedlyAccounts?
    @State private var accounts: [User] = []
    @State private var message = ""

    var body: some View {
        List {
            ForEach(accounts) { account in
                Text(account.displayName ?? account.email ?? account.uid)
                Button("Sign out") { Task { await remove(account) } }
            }
            Button("Add an account") { Task { await add() } }
            Text(message)
        }
        .task { await open() }
    }

    private func open() async {
        do throws(AuthError) {
            list = try FeedlyAccounts { (slot) throws(AuthError) in
                try Auth(
                    url: URL(string: "https://auth.example.com")!,
                    apiKey: "AIza…",
                    storage: KeychainSessionStorage(service: "com.example.reader", account: "feedly-\(slot)")
                )
            }
        } catch { message = error.description }
        await show()
    }

    private func add() async {
        let browser = WebAuthenticationSession(redirectURI: URL(string: "com.example.reader:/callback")!)
        do throws(AuthError) { _ = try await list?.add(using: browser) } catch { message = error.description }
        await show()
    }

    private func remove(_ account: User) async {
        do throws(AuthError) { try await list?.remove(account) } catch { message = error.description }
        await show()
    }

    private func show() async { accounts = await list?.accounts ?? [] }
}
#endif
