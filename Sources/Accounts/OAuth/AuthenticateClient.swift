import Federation
import Foundation
package import OAuth
import Projects
package import Secrets
import Storage
import StrictJSON

extension AccountsService { package var authenticateClient: AuthenticateClient { AuthenticateClient(service: self) } }

/// Authenticates an application at the token endpoint and its siblings (OAuth 2.1 §2.4).
package struct AuthenticateClient: Sendable {
    let service: AccountsService

    /// What a request says of its client.
    package struct Credentials: Sendable {
        package var id: String?
        package var proof: Proof

        package enum Proof: Sendable {
            /// A public client's.
            case none
            case secret(Secret)
            /// A JWT that the client's key signed (RFC 7523 §2.2).
            case assertion(Secret)
        }

        package init(id: String?, _ proof: Proof) { (self.id, self.proof) = (id, proof) }
    }

    private static let refused = OAuthError(.invalidClient, "The client is unknown, or its authentication failed")

    /// - Parameter mayBeNew: whether a client may come here first, so that its metadata document is looked for.
    /// - Throws: ``OAuthError``, with one text for every cause; ``Storage/RateLimitReached``.
    package func callAsFunction(
        _ credentials: Credentials,
        mayBeNew: Bool,
        _ caller: Caller
    ) async throws -> OAuthClient {
        if case .assertion(let text) = credentials.proof {
            return try await client(of: text, named: credentials.id, mayBeNew: mayBeNew, caller)
        }
        var client: OAuthClient?
        do { client = try await service.client(credentials.id, mayBeNew: mayBeNew, caller) } catch is OAuthError {}
        guard let client, accepts(credentials.proof, of: client) else { throw Self.refused }
        return client
    }

    private func accepts(_ proof: Credentials.Proof, of client: OAuthClient) -> Bool {
        switch proof {
        case .none: client.isPublic
        case .secret(let secret):
            client.secretHash.map { ConstantTime.equal($0, SecureHash.sha256(secret.reveal())) } ?? false
        case .assertion: false
        }
    }

    /// The client whose key signed an assertion, once (RFC 7523 §3).
    private func client(
        of text: Secret,
        named id: String?,
        mayBeNew: Bool,
        _ caller: Caller
    ) async throws -> OAuthClient {
        do {
            let token = try ClientJWT(text)
            let end = try check(token.claims, id, caller)
            let client = try await service.client(token.claims["sub"]?.string, mayBeNew: mayBeNew, caller)
            guard client.metadata.authentication == .privateKeyJWT, let keys = client.metadata.keys else {
                throw Self.refused
            }
            try await service.federation.calling(for: caller.project.id) {
                switch keys {
                case .set(let set):
                    try await service.federation.verify(
                        token,
                        keys: set.jsonText,
                        at: nil,
                        isVouchedFor: client.isVouchedFor
                    )
                case .url(let url):
                    let isVouchedFor = client.isVouchedFor
                    // Anybody can register clients and sign for them, and each may be a call (threats.md, T-F19).
                    if !isVouchedFor, service.federation.wouldFetchKeys(of: token, at: url, isVouchedFor: isVouchedFor)
                    {
                        try await service.stores.rateLimits.take(service.clientLimits(caller))
                    }
                    try await service.federation.verify(token, keys: nil, at: url, isVouchedFor: isVouchedFor)
                }
            }
            // Each leaves a row.
            if client.isStrangers { try await service.stores.rateLimits.take(service.flowLimits(caller)) }
            guard try await service.stores.oauthClients.use(token.hash, until: end, in: caller.project.id) else {
                throw Self.refused
            }
            return client
        } catch is FederationError {
            throw Self.refused
        }
    }

    /// An assertion's longest life, in seconds: as long as its hash is kept.
    private static let lifetime: Int64 = 3_600
    /// How far clocks may differ, in seconds.
    private static let skew: Int64 = 60

    /// - Returns: from when nobody accepts it any more.
    private func check(_ claims: JSONObject, _ id: String?, _ caller: Caller) throws -> Date {
        let issuer = try service.applicationIssuer(of: caller.project)
        let own = [issuer] + ProviderMetadata.Endpoint.ofClients.map { issuer + $0.rawValue }
        let audiences = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
        let subject = claims["sub"]?.string
        guard let subject, claims["iss"]?.string == subject, id ?? subject == subject,
            // Another audience could present it here.
            !audiences.isEmpty, audiences.allSatisfy({ $0.string.map(own.contains) ?? false }),
            claims["jti"]?.string?.isEmpty == false,
            let end = claims["exp"]?.numericDate, service.seconds < end + Self.skew,
            end <= service.seconds + Self.lifetime,
            claims["nbf"].map({ $0.numericDate ?? .max }) ?? 0 <= service.seconds + Self.skew,
            claims["iat"].map({ $0.numericDate ?? .max }) ?? 0 <= service.seconds + Self.skew
        else { throw Self.refused }
        return Date(timeIntervalSince1970: Double(end + Self.skew))
    }
}
