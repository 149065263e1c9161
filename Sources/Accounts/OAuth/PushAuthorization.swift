import Foundation
package import OAuth
import Projects
package import Secrets
import Storage
import StrictJSON
package import Text

extension AccountsService { package var pushAuthorization: PushAuthorization { PushAuthorization(service: self) } }

/// Takes an authorization request from the application itself instead of from the browser (RFC 9126).
package struct PushAuthorization: Sendable {
    let service: AccountsService

    /// Of a request, in seconds.
    package static let lifetime: Int64 = 300
    static let prefix = "urn:ietf:params:oauth:request_uri:"

    /// - Parameter keyThumbprint: of the key that the client has proved to have, to which the code is bound then.
    /// - Returns: its `request_uri`.
    /// - Throws: ``OAuthError``, ``Storage/RateLimitReached``.
    package func callAsFunction(
        _ parameters: FormFields,
        key keyThumbprint: String?,
        by client: OAuthClient,
        _ caller: Caller
    ) async throws -> Secret {
        // What an admin registered and proves to be itself asks for all its users from one address.
        if client.isPublic || client.origin != .admin {
            try await service.stores.rateLimits.take(service.flowLimits(caller))
        }
        let request: AuthorizationRequest
        do {
            let asked = try service.authorizationRequest(parameters, of: client, caller)
            request = try keyThumbprint.map { try asked.bound(to: $0) } ?? asked
        } catch let refused as AuthorizationRequest.Refused {
            throw refused.error
        } catch let refused as AuthorizationRequest.Unredirectable {
            throw OAuthError(.invalidRequest, refused.description)
        }
        let handle = Secret(service.random.handle())
        try await service.flows.insert(
            [UInt8](JSONEncoder().encode(request)),
            for: .authorization,
            secret: handle,
            boundTo: client.id,
            in: caller.scope,
            now: service.now(),
            lifetime: TimeInterval(Self.lifetime)
        )
        return Secret(Self.prefix + handle.reveal())
    }

    /// The request of a `request_uri`; nil if it is none of the service's.
    ///
    /// - Throws: ``OAuth/AuthorizationRequest/Unredirectable``.
    func take(_ uri: String?, of client: OAuthClient, _ caller: Caller) async throws -> AuthorizationRequest? {
        guard let uri, uri.hasPrefix(Self.prefix) else { return nil }
        let handle = Secret(String(uri.dropFirst(Self.prefix.count)))
        guard
            let content = try await service.flows.take(
                .authorization,
                secret: handle,
                boundTo: client.id,
                in: caller.scope,
                now: service.now()
            )
        else { throw AuthorizationRequest.Unredirectable(description: "request_uri is unknown, expired or used") }
        return try JSONDecoder().decode(AuthorizationRequest.self, from: Data(content))
    }
}

extension AccountsService {
    /// A client's authorization request, of the browser or pushed.
    ///
    /// - Throws: as its initializer.
    func authorizationRequest(
        _ parameters: FormFields,
        of client: OAuthClient,
        _ caller: Caller
    ) throws -> AuthorizationRequest {
        let issuer = try applicationIssuer(of: caller.project)
        return try AuthorizationRequest(parameters, of: client, caller.project.settings.oauth) { text in
            guard let claims = idToken(text, of: issuer), claims["aud"]?.string == client.id,
                let subject = claims["sub"]?.string
            else { return nil }
            return AuthorizationRequest.Hint(subject: subject, email: claims["email"]?.string)
        }
    }
}
