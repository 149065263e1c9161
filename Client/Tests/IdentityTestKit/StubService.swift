package import Foundation
import IdentityCore

/// The few operations that a session needs, with scripted responses to refreshes.
package final class StubService: Sendable {
    fileprivate struct State {
        var responses: [Data?] = []
        var presented: [String] = []
        var issued = 0
        var lifetime: Int
    }

    package let url: URL
    private let server: TestServer
    private let state: Protected<State>

    /// - Parameters:
    ///   - lifetime: of its ID tokens, in seconds.
    ///   - onRefresh: called before the response to a refresh.
    package init(lifetime: Int = 3600, onRefresh: @escaping @Sendable () -> Void = {}) throws {
        let state = Protected(State(lifetime: lifetime))
        self.state = state
        self.server = try TestServer { request in
            let text = String(decoding: request, as: UTF8.self)
            if text.contains("/v1/token ") {
                onRefresh()
                return state.withLock { $0.refresh(text) }
            }
            if text.contains(":signUp ") { return state.withLock { $0.signUp() } }
            if text.contains(":lookup ") {
                return TestServer.response(200, #"{"users":[{"localId":"ada","email":"ada@example.com"}]}"#)
            }
            return TestServer.response(200, "{}")
        }
        self.url = server.url
    }

    /// What the next refreshes respond, instead of tokens; nil for no response.
    package func script(_ responses: [Data?]) { state.withLock { $0.responses = responses } }

    /// The refresh tokens that were presented.
    package var presented: [String] { state.withLock { $0.presented } }
}

extension StubService.State {
    mutating func signUp() -> Data {
        issued += 1
        let idToken = idToken()
        return TestServer.response(
            200,
            #"{"localId":"ada","idToken":"\#(idToken)","refreshToken":"R\#(issued)","expiresIn":"\#(lifetime)"}"#
        )
    }

    mutating func refresh(_ request: String) -> Data? {
        presented.append(request.components(separatedBy: "refresh_token=").last ?? "")
        guard responses.isEmpty else { return responses.removeFirst() }
        issued += 1
        let idToken = idToken()
        return TestServer.response(
            200,
            #"{"id_token":"\#(idToken)","refresh_token":"R\#(issued)","expires_in":"3600","user_id":"ada"}"#
        )
    }

    /// Unsigned: the client believes the service.
    private func idToken() -> String {
        let now = Int(Date().timeIntervalSince1970)
        let claims =
            #"{"sub":"ada","iat":\#(now),"exp":\#(now + lifetime),"auth_time":\#(now),"#
            + #""firebase":{"sign_in_provider":"password"},"n":\#(issued)}"#
        return ["{}", claims, ""].map { Base64URL.encode($0.utf8) }.joined(separator: ".")
    }
}
