import Foundation
import IdentityClient
import IdentityCore
import IdentityTestKit
import Testing

/// Provider flows through the loopback listener, against the program and its demo providers.
@Suite struct ProviderTests {
    private let program: IdentityProgram
    private let email = "\(UUID().uuidString.lowercased())@example.com"

    init() throws { self.program = try IdentityProgram.shared }

    private func auth() throws -> Auth {
        try Auth(url: program.url, apiKey: "any", storage: MemorySessionStorage())
    }

    /// A listener whose user chooses an account, and whose browser then does what it is led to.
    private func user(choosing email: String? = nil) -> LoopbackAuthenticator {
        let email = email ?? self.email
        return LoopbackAuthenticator(timeout: .seconds(20)) { page in
            Task {
                let target = try await Browser.choose(email: email, on: page)
                guard let fragment = target.fragment else { return try await Browser.open(target) }
                // A browser sends no fragment; the page's script does.
                var bare = try #require(URLComponents(url: target, resolvingAgainstBaseURL: false))
                bare.fragment = nil
                let empty = try #require(bare.url)
                #expect(try await Browser.open(empty).contains("location.hash"))
                bare.queryItems = [URLQueryItem(name: "identity-fragment", value: fragment)]
                return try await Browser.open(#require(bare.url))
            }
        }
    }

    @Test func signsInReauthenticatesAndUnlinks() async throws {
        let auth = try auth()
        let google = OAuthProvider(providerID: "oidc.demo")
        let result = try await auth.signIn(with: google, using: user())
        #expect(result.additionalUserInfo.isNewUser)
        #expect(result.credential?.idToken != nil)
        #expect(result.user.providerData.map(\.providerID) == ["oidc.demo"])
        #expect(try await result.user.credentialState(for: "oidc.demo").authorization == .authorized)

        let again = try await result.user.reauthenticate(with: google, using: user())
        #expect(again.user.uid == result.user.uid)

        try await result.user.link(with: EmailAuthProvider.credential(withEmail: email, password: "correct horse"))
        try await result.user.unlink(fromProvider: "oidc.demo")
        #expect(result.user.providerData.map(\.providerID) == ["password"])
    }

    @Test func anotherUserDoesNotReauthenticate() async throws {
        let (auth, other) = (try auth(), try auth())
        let demo = OAuthProvider(providerID: "oidc.demo")
        let ada = try await auth.signIn(with: demo, using: user()).user
        _ = try await other.signIn(with: demo, using: user(choosing: "other-" + email))
        let error = await #expect(throws: AuthError.self) {
            try await ada.reauthenticate(with: demo, using: user(choosing: "other-" + email))
        }
        guard case .userMismatch? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(auth.currentUser?.uid == ada.uid)
    }

    @Test func aUserWithoutAnAccountDoesNotReauthenticate() async throws {
        let auth = try auth()
        let demo = OAuthProvider(providerID: "oidc.demo")
        let ada = try await auth.signIn(with: demo, using: user()).user
        let error = await #expect(throws: AuthError.self) {
            try await ada.reauthenticate(with: demo, using: user(choosing: "unknown-" + email))
        }
        guard case .userMismatch? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(auth.currentUser?.uid == ada.uid)
    }

    @Test(arguments: ["oidc.demo", "github.com", "oidc.yahoojp"])
    func aUserWhoCancelsAtTheProviderCancelsTheSignIn(_ provider: String) async throws {
        let browser = LoopbackAuthenticator(timeout: .seconds(20)) { page in
            Task { try await Browser.open(Browser.cancel(on: page)) }
        }
        let error = await #expect(throws: AuthError.self) {
            try await auth().signIn(with: OAuthProvider(providerID: provider), using: browser)
        }
        guard case .cancelled? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aConflictResumesAfterTheSignIn() async throws {
        let auth = try auth()
        let uid = try await auth.createUser(withEmail: email, password: "correct horse").user.uid
        try await auth.signOut()

        let gitHub = OAuthProvider(providerID: "github.com")
        let error = await #expect(throws: AuthError.self) { try await auth.signIn(with: gitHub, using: user()) }
        guard case .accountConflict(let conflict)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(conflict.reason == .accountExistsWithDifferentCredential)
        #expect(conflict.email == email)
        #expect(conflict.providerID == "github.com")
        #expect(auth.currentUser == nil)

        let result = try await conflict.resume(after: auth.signIn(withEmail: email, password: "correct horse"))
        #expect(result.user.uid == uid)
        #expect(result.user.providerData.map(\.providerID).sorted() == ["github.com", "password"])
    }

    @Test func anIdentityOfAnotherAccountCannotBeLinked() async throws {
        let (auth, other) = (try auth(), try auth())
        let demo = OAuthProvider(providerID: "oidc.demo")
        let owner = try await other.signIn(with: demo, using: user()).user
        let guest = try await auth.signInAnonymously().user
        let error = await #expect(throws: AuthError.self) { try await guest.link(with: demo, using: user()) }
        guard case .accountConflict(let conflict)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(conflict.reason == .credentialAlreadyInUse)
        #expect(try await auth.signIn(with: conflict.credential).user.uid == owner.uid)
    }

    @Test func takesTheFragmentOfAHybridFlow() async throws {
        var yahoo = OAuthProvider(providerID: "oidc.yahoojp")
        yahoo.responseType = "code id_token"
        let result = try await auth().signIn(with: yahoo, using: user())
        #expect(result.user.providerData.map(\.providerID) == ["oidc.yahoojp"])
    }

    @Test func returnsAProvidersToken() async throws {
        try await program.admin(
            "PATCH",
            "/v2/projects/demo-project/defaultSupportedIdpConfigs/google.com?updateMask=definition.keepTokens",
            #"{"definition":{"keepTokens":true}}"#
        )
        let user = try await auth().signIn(with: OAuthProvider(providerID: "google.com"), using: user()).user
        let token = try await user.providerToken(for: "google.com")
        #expect(!token.accessToken.isEmpty)
        #expect(token.scopes.contains("email"))
        let error = await #expect(throws: AuthError.self) { try await user.providerToken(for: "github.com") }
        #expect(error?.code == .operationNotAllowed)
    }

    @Test func ignoresWhatAnotherPageSendsToThePort() async throws {
        let email = email
        let authenticator = LoopbackAuthenticator(timeout: .seconds(20)) { page in
            Task {
                let target = try await Browser.choose(email: email, on: page)
                let text = target.absoluteString
                let others = [
                    text + "x", text.replacing(/state=[^&]*/, with: "state=guessed"),
                    text.replacing(/\?.*/, with: "favicon.ico"),
                    text.replacing(/\?.*/, with: "?identity-fragment=%25%20%00x"),
                ]
                for other in others {
                    try await Browser.open(#require(URL(string: other)))
                }
                try await Browser.open(target)
            }
        }
        let result = try await auth().signIn(with: OAuthProvider(providerID: "oidc.demo"), using: authenticator)
        #expect(result.user.email == email)
    }

    @Test func theListenerEndsInTime() async throws {
        let demo = OAuthProvider(providerID: "oidc.demo")
        let silent = LoopbackAuthenticator(timeout: .milliseconds(50)) { _ in }
        let error = await #expect(throws: AuthError.self) { try await auth().signIn(with: demo, using: silent) }
        guard case .webAuthentication? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aCancelledTaskCancelsTheFlow() async throws {
        let auth = try auth()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await auth.signIn(
                with: OAuthProvider(providerID: "oidc.demo"),
                using: LoopbackAuthenticator { _ in open.yield() }
            )
        }
        for await _ in opened { break }
        task.cancel()
        let error = await #expect(throws: AuthError.self) { try await task.value }
        guard case .cancelled? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
