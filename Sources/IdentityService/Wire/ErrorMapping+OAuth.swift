import HTTPTypes
package import OAuth

extension WireError {
    /// The status that each code has (RFC 6749 §5.2, RFC 6750 §3.1).
    package init(_ error: OAuthError) {
        switch error.code {
        case .invalidClient, .invalidToken: self = .status(.unauthorized, "UNAUTHENTICATED", error.description)
        case .insufficientScope: self = .status(.forbidden, "PERMISSION_DENIED", error.description)
        default: self = .oauth(error.code.rawValue, error.description)
        }
        oauthCode = error.code.rawValue
        cause = "oauth.\(error.code.rawValue)"
    }
}
