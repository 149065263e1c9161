import Foundation
import IdentityClient
import IdentityCore
import IdentityTestKit
import Testing

@Suite struct RefreshTests {
    private let folder: TemporaryFolder
    private let store: FileSessionStorage

    init() throws {
        self.folder = try TemporaryFolder()
        self.store = FileSessionStorage(file: folder.url.appendingPathComponent("session"))
    }

    private func signedIn(_ service: StubService, store: (any SessionStorage)? = nil) async throws -> (Auth, User) {
        let auth = try Auth(url: service.url, apiKey: "key", storage: store ?? self.store)
        return (auth, try await auth.signInAnonymously().user)
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var data: Data?
    }

    static let badAnswers = [
        Answer(testDescription: "no response", data: nil),
        Answer(testDescription: "half a body", data: TestServer.response(200, #"{"id_token":"a","refresh_tok"#)),
        Answer(
            testDescription: "a body shorter than its length",
            data: Data("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id_token\":\"a\"".utf8)
        ),
        Answer(
            testDescription: "a captive portal's page",
            data: TestServer.response(200, "<html>Welcome</html>", type: "text/html")
        ),
        Answer(
            testDescription: "a proxy's refusal",
            data: TestServer.response(403, "<html>TOKEN_EXPIRED</html>", type: "text/html")
        ),
        Answer(
            testDescription: "a redirect",
            data: TestServer.response(302, "", headers: ["Location: https://portal.example/"])
        ),
        Answer(
            testDescription: "429",
            data: TestServer.response(429, "slow down", type: "text/plain", headers: ["Retry-After: 7"])
        ),
        Answer(testDescription: "503", data: TestServer.response(503, "overloaded", type: "text/plain")),
        Answer(
            testDescription: "a 500 with a code",
            data: TestServer.response(500, #"{"error":{"code":500,"message":"TOKEN_EXPIRED"}}"#)
        ),
    ]

    @Test(arguments: badAnswers)
    func aFailureIsNoSignOut(_ answer: Answer) async throws {
        let service = try StubService(lifetime: 200)
        let (auth, user) = try await signedIn(service)
        service.script(Array(repeating: answer.data, count: 3))
        let error = await #expect(throws: AuthError.self) { try await user.idToken(forcingRefresh: true) }
        guard case .unavailable(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        if answer.testDescription == "429" { #expect(failure.retryAfter == .seconds(7)) }
        #expect(auth.currentUser == user)

        // The present token is valid for 200 more seconds: five minutes before its end it is renewed, if possible.
        service.script(Array(repeating: answer.data, count: 3))
        let token = try await user.idToken()
        service.script([])
        #expect(try await user.idToken() != token)
        #expect(try Auth(url: service.url, apiKey: "key", storage: store).currentUser?.uid == "ada")
    }

    @Test(arguments: ["TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN"])
    func theServicesAnswerEndsTheSession(_ code: String) async throws {
        let service = try StubService()
        let (auth, user) = try await signedIn(service)
        var states = auth.authStateChanges.makeAsyncIterator()
        #expect(await states.next() == .some(user))
        service.script([TestServer.response(400, #"{"error":{"code":400,"message":"\#(code)"}}"#)])
        let error = await #expect(throws: AuthError.self) { try await user.idToken(forcingRefresh: true) }
        guard case .sessionEnded(let refusal)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.code.rawValue == code)
        #expect(auth.currentUser == nil)
        #expect(await states.next() == .some(nil))
        #expect(try store.read() == nil)
    }

    @Test func anotherRefusalEndsNothing() async throws {
        let service = try StubService()
        let (auth, user) = try await signedIn(service)
        service.script([TestServer.response(400, #"{"error":{"code":400,"message":"PROJECT_NUMBER_MISMATCH"}}"#)])
        let error = await #expect(throws: AuthError.self) { try await user.idToken(forcingRefresh: true) }
        #expect(error?.code?.rawValue == "PROJECT_NUMBER_MISMATCH")
        #expect(auth.currentUser == user)
    }

    @Test func aRefusedTokenThatWasReplacedEndsNothing() async throws {
        // A program without the lock writes a newer record while the service refuses the older token.
        let newer = Protected<Data?>(nil)
        let store = store
        let service = try StubService { if let record = newer.withLock({ $0 }) { try? store.write(record) } }
        let (auth, user) = try await signedIn(service)
        let old = try #require(try store.read())
        _ = try await user.idToken(forcingRefresh: true)
        let new = try #require(try store.read())
        try store.write(old)
        try await auth.synchronize()
        newer.withLock { $0 = new }
        service.script([TestServer.response(400, #"{"error":{"code":400,"message":"TOKEN_EXPIRED"}}"#)])
        _ = try await user.idToken(forcingRefresh: true)
        #expect(service.presented.suffix(2) == ["R1", "R2"])
        #expect(auth.currentUser == user)
    }

    @Test func manyCallsCauseOneRefresh() async throws {
        let service = try StubService(lifetime: 200)
        let (_, user) = try await signedIn(service)
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await user.idToken() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(service.presented.count == 1)
    }

    @Test func takesOverWhatAnotherProcessRefreshed() async throws {
        let service = try StubService(lifetime: 200)
        let (_, user) = try await signedIn(service)
        let other = try Auth(url: service.url, apiKey: "key", storage: store)
        let token = try await user.idToken()
        #expect(try await other.currentUser?.idToken() == token)
        #expect(service.presented.count == 1)
    }

    @Test func followsTheSignOutOfAnotherProcess() async throws {
        let service = try StubService()
        let (auth, _) = try await signedIn(service)
        let other = try Auth(url: service.url, apiKey: "key", storage: store)
        try await auth.signOut()
        try await other.synchronize()
        #expect(other.currentUser == nil)
    }

    @Test func signingOutRenewsAnExpiredTokenToEndTheSession() async throws {
        let service = try StubService(lifetime: 20)
        let (auth, _) = try await signedIn(service)
        try await auth.signOut()
        #expect(service.presented == ["R1"])
        #expect(try store.read() == nil)
    }

    @Test func aTokenOfAnEarlierBootIsRenewed() async throws {
        let service = try StubService()
        _ = try await signedIn(service)
        let record = String(decoding: try #require(try store.read()), as: UTF8.self)
        try store.write(Data(record.replacing(/"boot":"[^"]+"/, with: #""boot":"another""#).utf8))
        let user = try #require(try Auth(url: service.url, apiKey: "key", storage: store).currentUser)
        _ = try await user.idToken()
        _ = try await user.idToken()
        #expect(service.presented == ["R1"])
    }
}
