import Foundation
import IdentityClient
import IdentityTestKit
import Testing

/// The client against the program.
@Suite struct AccountTests {
    private let program: IdentityProgram
    private let email = "\(UUID().uuidString.lowercased())@example.com"
    private let password = "correct horse"

    init() throws { self.program = try IdentityProgram.shared }

    private func auth() throws -> Auth {
        try Auth(url: program.url, apiKey: "any", storage: MemorySessionStorage())
    }

    @Test func anAccountWithAPassword() async throws {
        let auth = try auth()
        let result = try await auth.createUser(withEmail: email, password: password)
        #expect(result.additionalUserInfo.isNewUser)
        let user = result.user
        #expect(auth.currentUser == user)
        #expect(user.email == email)
        #expect(!user.isAnonymous)
        #expect(user.providerData.map(\.providerID) == ["password"])

        try await user.updateProfile(displayName: "Ada", photoURL: URL(string: "https://example.com/ada.png"))
        #expect(user.displayName == "Ada")
        try await user.updateProfile(displayName: .some(nil))
        #expect(user.displayName == nil)
        #expect(user.photoURL?.absoluteString == "https://example.com/ada.png")

        try await user.updatePassword(to: "another horse")
        let claims = try await user.idTokenResult(forcingRefresh: true)
        #expect(claims.signInProvider == "password")
        #expect(claims.expirationDate.timeIntervalSince(claims.issuedAtDate) == 3600)

        try await auth.signOut()
        #expect(auth.currentUser == nil)
        let wrong = await #expect(throws: AuthError.self) {
            try await auth.signIn(withEmail: email, password: password)
        }
        #expect([.wrongPassword, .invalidCredential].contains(wrong?.code))
        let again = try await auth.signIn(withEmail: email, password: "another horse")
        try await again.user.delete()
        #expect(auth.currentUser == nil)
    }

    @Test func anAnonymousAccountGetsAPassword() async throws {
        let auth = try auth()
        let user = try await auth.signInAnonymously().user
        #expect(user.isAnonymous)
        #expect(try await auth.signInAnonymously().user.uid == user.uid)
        try await user.link(with: EmailAuthProvider.credential(withEmail: email, password: password))
        #expect(!user.isAnonymous)
        #expect(try await self.auth().signIn(withEmail: email, password: password).user.uid == user.uid)
    }

    @Test func sessionsOfTwoDevices() async throws {
        let (first, second) = (try auth(), try auth())
        let user = try await first.createUser(withEmail: email, password: password).user
        let other = try await second.signIn(withEmail: email, password: password).user
        let sessions = try await user.sessions()
        #expect(sessions.count == 2)
        #expect(try await sessions.first(where: \.isCurrent)?.id == user.idTokenResult().sessionID)

        // The one that signed in last.
        try await other.signOutOtherSessions()
        let error = await #expect(throws: AuthError.self) { try await user.reload() }
        guard case .sessionEnded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(first.currentUser == nil)
        #expect(try await other.sessions().count == 1)
    }

    @Test func signingOutEndsTheSessionAtTheService() async throws {
        let (first, second) = (try auth(), try auth())
        _ = try await first.createUser(withEmail: email, password: password)
        let user = try await second.signIn(withEmail: email, password: password).user
        try await first.signOut()
        #expect(try await user.sessions().count == 1)
    }

    @Test func aDisabledAccountIsSignedOut() async throws {
        let auth = try auth()
        let user = try await auth.createUser(withEmail: email, password: password).user
        try await program.admin(
            "POST",
            "/v1/projects/demo-project/accounts:update",
            #"{"localId":"\#(user.uid)","disableUser":true}"#
        )
        let error = await #expect(throws: AuthError.self) { try await user.idToken(forcingRefresh: true) }
        #expect(error?.code == .userDisabled)
        #expect(auth.currentUser == nil)
    }

    @Test func passwordsByEmail() async throws {
        let auth = try auth()
        _ = try await auth.createUser(withEmail: email, password: password)
        try await auth.sendPasswordReset(withEmail: email)
        let code = try await oobCode(type: "PASSWORD_RESET")
        #expect(try await auth.verifyPasswordResetCode(code) == email)
        try await auth.confirmPasswordReset(withCode: code, newPassword: "a new horse")
        #expect(try await auth.signIn(withEmail: email, password: "a new horse").user.isEmailVerified)
        let used = await #expect(throws: AuthError.self) { try await auth.applyActionCode(code) }
        #expect(used?.code == .invalidActionCode)
    }

    @Test func signInByALinkInAnEmail() async throws {
        let auth = try auth()
        let continueURL = try #require(URL(string: "http://localhost/signed-in"))
        try await auth.sendSignInLink(toEmail: email, continueURL: continueURL)
        let link = "http://localhost/signed-in?mode=signIn&oobCode=\(try await oobCode(type: "EMAIL_SIGNIN"))"
        let result = try await auth.signIn(withEmail: email, link: link)
        #expect(result.user.email == email)
        #expect(result.user.isEmailVerified)
    }

    /// The code of the newest email, which `identity dev` keeps.
    private func oobCode(type: String) async throws -> String {
        let answer = try await program.admin("GET", "/emulator/v1/projects/demo-project/oobCodes")
        let codes = try #require(answer["oobCodes"] as? [[String: Any]])
        let code = codes.last { $0["email"] as? String == email && $0["requestType"] as? String == type }
        return try #require(code?["oobCode"] as? String)
    }
}
