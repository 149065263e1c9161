#if Hummingbird
import Foundation
import HTTPTypes
import Hummingbird
import IdentityHummingbird
import IdentityServer
import IdentityServerTestKit
import Logging
import Testing

@Suite struct MiddlewareTests {
    struct Context: IdentityRequestContext {
        var coreContext: CoreRequestContextStorage
        var token: VerifiedToken?

        init(source: Source) { self.coreContext = .init(source: source) }

        struct Source: RequestContextSource {
            let logger = Logger(label: "test")
        }
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

    /// Returns the response of a route behind the middleware.
    private func ask(_ keys: KeyServer, _ headers: HTTPFields) async throws -> Response {
        let router = Router(context: Context.self)
        router.group("notes")
            .add(middleware: IdentityMiddleware(verifier: try keys.verifier(), cookie: "session"))
            .get { _, context in Response(status: .ok, headers: [.server: context.token?.uid ?? ""]) }
        let request = Request(
            head: HTTPRequest(
                method: .get,
                scheme: "http",
                authority: "localhost",
                path: "/notes",
                headerFields: headers
            ),
            body: RequestBody(buffer: ByteBuffer())
        )
        let context = Context(source: Context.Source())
        do {
            return try await router.buildResponder().respond(to: request, context: context)
        } catch let error as any HTTPResponseError {
            return try error.response(from: request, context: context)
        }
    }

    @Test(arguments: try cases())
    func requiresAValidToken(_ test: Case) async throws {
        var headers = HTTPFields()
        headers[.authorization] = test.header
        headers[.cookie] = test.cookie
        let response = try await ask(KeyServer(), headers)
        #expect(response.status == test.status)
        #expect(response.headers[.wwwAuthenticate] == test.challenge)
        #expect(response.headers[.server] == (test.status == .ok ? "ada" : nil))
    }

    @Test func withoutKeysTheServerIsUnavailable() async throws {
        let keys = try KeyServer()
        keys.answer(nil)
        let response = try await ask(keys, [.authorization: "Bearer \(try Vectors.token("RS256"))"])
        #expect(response.status == .serviceUnavailable)
    }
}
#endif
