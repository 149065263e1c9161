/// What the browser is asked for to use a passkey (WebAuthn §5.5), before it is JSON.
package struct AssertionOptions: Sendable, Equatable {
    package let relyingPartyID: String
    package let challenge: Challenge
    /// Empty leaves the choice to the user.
    package let allowed: [CredentialDescriptor]
    package let userVerification: UserVerification
    package let timeout: Duration

    package init(
        relyingPartyID: String,
        challenge: Challenge,
        allowed: [CredentialDescriptor] = [],
        userVerification: UserVerification = .preferred,
        timeout: Duration = .seconds(300)
    ) {
        self.relyingPartyID = relyingPartyID
        self.challenge = challenge
        self.allowed = allowed
        self.userVerification = userVerification
        self.timeout = timeout
    }
}
