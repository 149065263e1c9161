#if Hummingbird
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import IdentityHummingbird
import IdentityServer
import IdentityServerTestKit
import Testing

@Suite struct MiddlewareTests {
    struct Context: IdentityRequestContext {
        var coreContext: CoreRequestContextStorage
        var token: VerifiedToken?

        init(source: Source) { self.coreContext = .init(source: source) }
    }

    struct Case: Sendable {
        var header: String?
        var cookie: String?
        var status: HTTPResponse.Status
        var challenge: String?
    }

    private static func cases() throws -> [Case] {
        let valid = try Vectors.token("RS256")
        let cookie = try Vectors.token("a session cookie")
        let invalid = #"Bearer error="invalid_token""#
        return [
            Case(header: "Bearer \(valid)", status: .ok),
            Case(header: "bearer \(valid)", status: .ok),
            Case(cookie: "session=\(cookie)", status: .ok),
            Case(status: .unauthorized, challenge: "Bearer"),
            Case(header: "Basic YTpi", status: .unauthorized, challenge: "Bearer"),
            Case(header: "Bearer \(valid)x", status: .unauthorized, challenge: invalid),
            Case(header: "Bearer \(cookie)", status: .unauthorized, challenge: invalid),
            Case(cookie: "session=\(valid)", status: .unauthorized, challenge: invalid),
        ]
    }

    private func app(_ verifier: TokenVerifier) -> some ApplicationProtocol {
        let router = Router(context: Context.self)
        router.group("notes")
            .add(middleware: IdentityMiddleware(verifier: verifier, cookie: "session"))
            .get { _, context in context.token?.uid ?? "" }
        return Application(router: router)
    }

    @Test(arguments: try cases())
    func requiresAValidToken(_ test: Case) async throws {
        let keys = try KeyServer()
        try await app(keys.verifier()).test(.router) { client in
            var headers = HTTPFields()
            headers[.authorization] = test.header
            headers[.cookie] = test.cookie
            try await client.execute(uri: "/notes", method: .get, headers: headers) { response in
                #expect(response.status == test.status)
                #expect(response.headers[.wwwAuthenticate] == test.challenge)
                if test.status == .ok { #expect(String(buffer: response.body) == "ada") }
            }
        }
    }

    @Test func withoutKeysTheServerIsUnavailable() async throws {
        let keys = try KeyServer()
        keys.answer(nil)
        let token = try Vectors.token("RS256")
        try await app(keys.verifier()).test(.router) { client in
            try await client.execute(uri: "/notes", method: .get, headers: [.authorization: "Bearer \(token)"]) {
                #expect($0.status == .serviceUnavailable)
            }
        }
    }
}
#endif
