/// Something that a correct client would not have sent.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    package var endpoint: ProviderEndpoint
    package var rule: Rule
    /// What was wrong, for the reader of a failed test.
    package var detail: String

    package enum Rule: String, Sendable, Hashable {
        case method
        case contentType
        /// A space as `+`, a broken escape, bytes that aren't UTF-8.
        case encoding
        case repeatedParameter
        case missingParameter
        case unknownClient
        case clientAuthentication
        case redirectURI
        case state
        case nonce
        case pkce
        case scope
        case responseType
        case grantType
        case unknownCode
        case codeReuse
        case refreshTokenReuse
        case expiredCode
        /// The code belongs to another client.
        case codeBinding
        case accessToken
        case userAgent
        /// OAuth 1.0a: the signature, or how it was made.
        case signature
        case timestamp
    }

    package var description: String { "\(endpoint.rawValue): \(rule.rawValue): \(detail)" }
}
