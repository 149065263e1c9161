import Foundation
import IdentityCore
package import IdentityServer
import IdentityTestKit

/// A server of keys, with a clock that the test moves.
package final class KeyServer: Sendable {
    private struct State {
        var answer: String?
        var requests = 0
        var uptime = 0.0
        var elapsed = 0.0
    }

    private let server: TestServer
    private let state: Protected<State>
    private let start = ContinuousClock.now
    private let now: TimeInterval

    package init() throws {
        let state = Protected(State(answer: try Vectors.keys.get()))
        self.state = state
        self.now = try Vectors.all.get().now
        self.server = try TestServer { _ in
            state.withLock {
                $0.requests += 1
                return $0.answer.map { TestServer.response(200, $0) }
            }
        }
    }

    package var requests: Int { state.withLock { $0.requests } }
    package func answer(_ text: String?) { state.withLock { $0.answer = text } }
    package func setUptime(_ seconds: Double) { state.withLock { $0.uptime = seconds } }
    package func advance(by seconds: Double) { state.withLock { $0.elapsed += seconds } }

    package func verifier(tenants: TokenVerifier.Tenants = .none, cacheSize: Int = 100) throws -> TokenVerifier {
        TokenVerifier(
            url: server.url,
            projectID: "my-project",
            issuers: ["https://securetoken.google.com/my-project", "https://auth.example.com/my-project"],
            tenants: tenants,
            cacheSize: cacheSize,
            now: { [state, now] in Date(timeIntervalSince1970: now + state.withLock { $0.elapsed }) },
            uptime: { [state, start] in start.advanced(by: .seconds(state.withLock { $0.uptime })) }
        )
    }
}
