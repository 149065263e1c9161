/// A refusal in the words of OAuth 2.1, for the client's developer.
package struct OAuthError: Error, Sendable, Hashable {
    package let code: Code
    /// English, one line, without anything that the client sent.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The codes, each with the section that defines it.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        // RFC 6749 §4.1.2.1 and §5.2
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case accessDenied = "access_denied"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        // RFC 8707 §2
        case invalidTarget = "invalid_target"
        // RFC 9449 §5
        case invalidDPoPProof = "invalid_dpop_proof"
        // RFC 8628 §3.5
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        // RFC 6750 §3.1
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        // RFC 7591 §3.2.2
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidClientMetadata = "invalid_client_metadata"
        // OpenID Connect Core 1.0 §3.1.2.6
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case registrationNotSupported = "registration_not_supported"
    }
}
