import Foundation
import JWTKit
import TestKit

/// A back end that verifies by the published keys, and keeps its copy of them for as long as it may, not a second less.
///
/// As Admin SDKs do it, it fetches nothing for a key that its copy lacks: such a token is refused.
actor ResourceServer {
    private struct Claims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private let nodes: [TestService]
    private let path: String
    private var keys = JWTKeyCollection()
    private(set) var kids: Set<String> = []
    private var freshUntil: Double = -1
    private var fetches = 0

    static let idTokens = "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
    static let cookies = "/v1/sessionCookiePublicKeys"

    init(_ nodes: [TestService], _ path: String) {
        self.nodes = nodes
        self.path = path
    }

    func verify(_ token: String) async throws {
        try await refreshWhenStale()
        _ = try await keys.verify(token, as: Claims.self)
    }

    /// Fetches the keys, from another node each time, when its copy is too old.
    func refreshWhenStale() async throws {
        let now = Double(nodes[0].clock.seconds)
        guard now >= freshUntil else { return }
        fetches += 1
        let reply = try await nodes[fetches % nodes.count].send("GET", path)
        let age = reply.response.header("cache-control")?.firstMatch(of: #/max-age=([0-9]+)/#).flatMap { Double($0.1) }
        guard let age else { throw TestServiceError.unexpected("\(reply)") }
        let fetched = JWTKeyCollection()
        let published = try JSONDecoder().decode(JWKS.self, from: Data(reply.response.text.utf8)).keys
        for key in published { try await fetched.add(jwk: key, isDefault: false) }
        (keys, kids, freshUntil) = (fetched, Set(published.compactMap { $0.keyIdentifier?.string }), now + age)
    }
}
