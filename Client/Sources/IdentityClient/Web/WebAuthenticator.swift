public import Foundation
import IdentityCore

/// Shows a provider's pages to the user, and waits for the browser's return.
///
/// `WebAuthenticationSession` does so in apps on Apple's systems, ``LoopbackAuthenticator`` in command-line programs.
public protocol WebAuthenticator: Sendable {
    /// Runs one sign-in.
    ///
    /// - Parameter begin: takes the redirect URI, starts the flow, and returns the provider's page. Call it once.
    /// - Returns: the URL to which the provider sent the browser, with its query and fragment.
    /// - Throws: ``AuthError/cancelled`` if the user closed the page.
    func authenticate(
        _ begin: @Sendable (_ redirectURI: URL) async throws(AuthError) -> URL
    ) async throws(AuthError) -> ProviderCallback
}

/// A provider's response at the redirect URI.
public struct ProviderCallback: Sendable, Hashable {
    /// Complete, as the browser had it.
    public var url: URL
    /// The body, if the provider posted a form.
    public var form: String?

    public init(url: URL, form: String? = nil) {
        self.url = url
        self.form = form
    }
}

extension Auth {
    /// Signs in at a provider's pages.
    /// - Throws: as ``signIn(with:)``; ``AuthError/cancelled`` if the user cancelled.
    public func signIn(
        with provider: OAuthProvider,
        using authenticator: some WebAuthenticator
    ) async throws(AuthError) -> AuthDataResult {
        try await signIn(with: credential(of: provider, for: "signInViaRedirect", using: authenticator))
    }

    fileprivate func credential(
        of provider: OAuthProvider,
        for purpose: String,
        using authenticator: some WebAuthenticator
    ) async throws(AuthError) -> AuthCredential {
        let sessionID = Protected("")
        let callback = try await authenticator.authenticate { (redirectURI) throws(AuthError) in
            let flow = try await self.api.call("v1/accounts:createAuthUri", returning: AuthURIResponse.self) {
                $0.providerId = provider.providerID
                $0.continueUri = redirectURI.absoluteString
                $0.authType = purpose
                $0.oauthScope = provider.scopes.isEmpty ? nil : provider.scopes.joined(separator: " ")
                $0.customParameter = provider.customParameters.isEmpty ? nil : provider.customParameters
                $0.responseType = provider.responseType
            }
            guard let page = flow.authUri.flatMap({ URL(string: $0) }) else {
                throw .unavailable(Unavailability(reason: .response(status: 200)))
            }
            sessionID.withLock { $0 = flow.sessionId }
            return page
        }
        return AuthCredential(
            providerID: provider.providerID,
            proof: .callback(
                callback,
                sessionID: sessionID.withLock { $0 },
                returnsRefreshToken: provider.returnsRefreshToken
            )
        )
    }
}

extension User {
    /// Links an identity that the user proves at the provider's pages.
    @discardableResult
    public func link(
        with provider: OAuthProvider,
        using authenticator: some WebAuthenticator
    ) async throws(AuthError) -> AuthDataResult {
        try await link(with: auth.credential(of: provider, for: "linkViaRedirect", using: authenticator))
    }

    /// Proves the account again at a provider's pages.
    ///
    /// Creates and links nothing.
    @discardableResult
    public func reauthenticate(
        with provider: OAuthProvider,
        using authenticator: some WebAuthenticator
    ) async throws(AuthError) -> AuthDataResult {
        try await reauthenticate(with: auth.credential(of: provider, for: "reauthViaRedirect", using: authenticator))
    }
}
