import Foundation

/// Proof of a sign-in method.
///
/// Make one with `EmailAuthProvider`, `OAuthProvider` and the other providers.
public struct AuthCredential: Sendable, Hashable {
    enum Proof: Sendable, Hashable {
        case password(email: String, password: String)
        case emailLink(email: String, code: String)
        /// The form that the provider's response would have.
        case tokens(form: String)
        /// The response itself, of a flow that `createAuthUri` started.
        case callback(ProviderCallback, sessionID: String, returnsRefreshToken: Bool)
        /// What the service stored when the credential conflicted with an account; valid for an hour.
        case pending(token: String)
    }

    /// Such as `google.com` or `password`.
    public let providerID: String
    let proof: Proof

    func operation(isLink: Bool) -> String {
        switch proof {
        case .password: isLink ? "v1/accounts:signUp" : "v1/accounts:signInWithPassword"
        case .emailLink: "v1/accounts:signInWithEmailLink"
        case .tokens, .callback, .pending: "v1/accounts:signInWithIdp"
        }
    }

    func fill(_ request: inout WireRequest) {
        switch proof {
        case .password(let email, let password):
            request.email = email
            request.password = password
            return
        case .emailLink(let email, let code):
            request.email = email
            request.oobCode = code
            return
        case .tokens(let form):
            request.requestUri = "http://localhost"
            request.postBody = form
        case .callback(let callback, let sessionID, let returnsRefreshToken):
            request.returnRefreshToken = returnsRefreshToken
            request.requestUri = callback.url.absoluteString
            request.postBody = callback.form
            request.sessionId = sessionID
        case .pending(let token):
            request.requestUri = "http://localhost"
            request.pendingToken = token
        }
        request.returnIdpCredential = true
    }
}

extension AuthCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Names the provider only: a credential must not reach a log.
    public var description: String { "AuthCredential(\(providerID))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
