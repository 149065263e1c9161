package import struct Secrets.Secret

/// A sign-in that is ready to start: the browser is sent to ``url``, and the flow is stored under the hash of
/// ``state``.
package struct AuthorizationRequest: Sendable {
    /// `authUri`.
    ///
    /// It contains the state, so it must not be logged.
    package let url: String
    /// 256 random bits, 43 characters of base64url.
    ///
    /// Only its SHA-256 is stored.
    package let state: Secret
    package var flow: AuthorizationFlow
}
