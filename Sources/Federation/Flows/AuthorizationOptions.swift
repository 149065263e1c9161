/// An app's options for a sign-in.
package struct AuthorizationOptions: Sendable {
    /// Where the provider redirects to (`continueUri`), byte for byte as registered there.
    ///
    /// A custom scheme with an empty authority is allowed; a fragment is not.
    package var redirectURI: String
    /// Added to the definition's scopes.
    package var scopes: [String]
    /// `prompt`, `login_hint`, `hd`, …; names that the service sets itself are refused.
    ///
    /// `max_age` and `prompt=login` are checked afterwards, against `auth_time`.
    package var customParameters: [String: String]
    /// `response_type`, one that the definition offers; nil for its first.
    package var responseType: String?
    /// The email that the user is expected to use, sent as `login_hint`.
    package var loginHint: String?

    package init(
        redirectURI: String,
        scopes: [String] = [],
        customParameters: [String: String] = [:],
        responseType: String? = nil,
        loginHint: String? = nil
    ) {
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.customParameters = customParameters
        self.responseType = responseType
        self.loginHint = loginHint
    }

    /// Whether only the service may set a parameter.
    package static func isReserved(_ name: String) -> Bool { ReservedParameters.contains(name) }
}
