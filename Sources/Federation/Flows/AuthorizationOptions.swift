/// What the app asks for when it starts a sign-in.
package struct AuthorizationOptions: Sendable {
    /// Where the provider sends the browser back (`continueUri`), byte for byte as registered there.
    ///
    /// A custom scheme with an empty authority is fine; a fragment is not.
    package var redirectURI: String
    /// Added to the definition's scopes.
    package var scopes: [String]
    /// `prompt`, `login_hint`, `hd`, …; names that the service sets itself are refused.
    ///
    /// What `max_age` and `prompt=login` ask for is checked afterwards, against `auth_time`.
    package var customParameters: [String: String]
    /// `response_type`, one that the definition offers; nil for its first.
    package var responseType: String?
    /// The address that the person is expected to use, sent as `login_hint`.
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

    /// Whether a parameter is the service's own to set.
    package static func isReserved(_ name: String) -> Bool { ReservedParameters.contains(name) }
}
