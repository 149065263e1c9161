/// Signs in with a passkey: what was asked for, and the verification of the response (WebAuthn Level 3 §7.2).
///
/// Steps 1 to 4 and 7 to 9 are the client's and the parsing of its response. The caller looks up the record (step 6), and
/// stores its new state (step 24).
package struct AssertionCeremony: Sendable {
    package let relyingParty: RelyingParty
    package let challenge: Challenge
    package let userVerification: UserVerification
    /// The credentials that were asked for; empty leaves the choice to the user.
    package let allowed: [CredentialID]
    /// Whether the account was known before the passkey was used, as for a reauthentication.
    package let knowsUser: Bool

    package init(
        relyingParty: RelyingParty,
        challenge: Challenge,
        userVerification: UserVerification = .preferred,
        allowed: [CredentialID] = [],
        knowsUser: Bool = false
    ) {
        self.relyingParty = relyingParty
        self.challenge = challenge
        self.userVerification = userVerification
        self.allowed = allowed
        self.knowsUser = knowsUser
    }

    /// - Parameters:
    ///   - record: the one with the response's ID.
    ///   - userHandle: of the account that has the record.
    package func verify(
        _ response: AssertionResponse,
        of record: CredentialRecord,
        userHandle: [UInt8]
    ) throws(PasskeyError) -> VerifiedAssertion {
        // Step 5
        guard allowed.isEmpty || allowed.contains(response.id) else { throw .credentialNotAllowed }
        // Step 6
        guard response.id == record.id else { throw .unacceptableCredentialID }
        guard response.userHandle == userHandle || response.userHandle == nil && knowsUser else {
            throw .wrongUserHandle
        }
        // Steps 10–14
        try relyingParty.verify(response.clientData, type: "webauthn.get", challenge: challenge)
        let data = try AuthenticatorData(response.authenticatorData)
        // Step 15
        guard data.relyingPartyHash == relyingParty.idHash else { throw .wrongRelyingParty }
        // Step 16
        guard data.flags.contains(.userPresent) else { throw .userNotPresent }
        // Step 17
        guard userVerification != .required || data.flags.contains(.userVerified) else { throw .userNotVerified }
        // Step 18
        guard data.flags.haveValidBackupState else { throw .invalidBackupState }
        // Step 19
        guard data.flags.contains(.backupEligible) == record.isBackupEligible else {
            throw .changedBackupEligibility
        }
        // Steps 20–21
        guard record.publicKey.verifies(response.signature, of: data.bytes + response.clientData.hash) else {
            throw .wrongSignature
        }
        // Step 22
        let hasCounter = data.signCount != 0 || record.signCount != 0
        let counter: VerifiedAssertion.Counter =
            hasCounter && data.signCount <= record.signCount ? .cloneSuspected : .plausible
        // Step 23: no extension was asked for, and outputs that come nevertheless are ignored. Step 24:
        var used = record
        used.signCount = max(data.signCount, record.signCount)
        used.isBackedUp = data.flags.contains(.backedUp)
        used.hasVerifiedUser = record.hasVerifiedUser || data.flags.contains(.userVerified)
        return VerifiedAssertion(
            record: used,
            isUserVerified: data.flags.contains(.userVerified),
            counter: counter
        )
    }
}
