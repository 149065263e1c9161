import Domain
import Logging
import Passkeys
import Projects
import Secrets

import struct Foundation.Date

extension AccountsService {
    /// - Throws: ``PasskeyRefusal/notEnabled``.
    func relyingParty(_ caller: Caller) throws(AccountsError) -> RelyingParty {
        guard let party = caller.project.settings.passkeys.relyingParty else { throw .passkey(.notEnabled) }
        return party
    }

    /// What identifies an account to authenticators (WebAuthn §5.4.3): of its ID, which an admin may have chosen, the
    /// hash alone, because authenticators show and synchronize it.
    func userHandle(of account: AccountID, _ caller: Caller) -> [UInt8] {
        SecureHash.sha256("passkey/\(caller.project.id)/\(caller.tenant.rawValue)/\(account)")
    }

    /// The refusal for the client; the log gets the step of the verification.
    func refuse(_ error: PasskeyError, _ account: AccountID?, _ caller: Caller) -> AccountsError {
        AccountEvents.count(.refused, .passkey, caller)
        var metadata: Logger.Metadata = [
            "project.id": "\(caller.project.id)", "error.code": "\(error.rawValue)", "error.cause": "\(error)",
        ]
        if caller.tenant != .none { metadata["tenant.id"] = "\(caller.tenant)" }
        if let account { metadata["account.id"] = "\(account)" }
        Logger.current.notice("Refused a passkey", metadata: metadata)
        return .passkey(.invalidResponse)
    }

    /// Verifies what an authenticator said; a copy of the passkey raises an event, and is refused by setting.
    func verify(
        _ response: AssertionResponse,
        _ passkey: Passkey,
        _ ceremony: AssertionCeremony,
        _ account: AccountID,
        _ caller: Caller
    ) throws(AccountsError) -> VerifiedAssertion {
        let assertion: VerifiedAssertion
        do {
            assertion = try ceremony.verify(response, of: passkey.record, userHandle: passkey.userHandle)
        } catch {
            throw refuse(error, account, caller)
        }
        if assertion.counter == .cloneSuspected {
            AccountEvent.passkeyCloneSuspected.log(account, provider: .passkey, caller)
            guard !caller.project.settings.passkeys.refusesClones else { throw .passkey(.invalidResponse) }
        }
        return assertion
    }
}

extension Passkey {
    init(_ record: CredentialRecord, userHandle: [UInt8], name: String?, enrolledAt date: Date) {
        self.init(
            id: record.id.description,
            userHandle: userHandle,
            publicKey: record.publicKey.bytes,
            signCount: record.signCount,
            hasVerifiedUser: record.hasVerifiedUser,
            isBackupEligible: record.isBackupEligible,
            isBackedUp: record.isBackedUp,
            transports: record.transports,
            aaguid: record.aaguid.bytes,
            attestation: record.attestation.rawValue,
            name: name,
            enrolledAt: date
        )
    }

    var descriptor: CredentialDescriptor? {
        Base64URL.decode(id).flatMap { CredentialID(bytes: $0) }.map { .init(id: $0, transports: transports) }
    }

    /// - Throws: ``Passkeys/PasskeyError`` for a stored value that cannot be read.
    var record: CredentialRecord {
        get throws(PasskeyError) {
            guard let descriptor, let aaguid = AAGUID(bytes: aaguid) else { throw .unacceptableCredentialID }
            return CredentialRecord(
                id: descriptor.id,
                publicKey: try COSEKey(publicKey),
                signCount: signCount,
                hasVerifiedUser: hasVerifiedUser,
                isBackupEligible: isBackupEligible,
                isBackedUp: isBackedUp,
                transports: transports,
                aaguid: aaguid,
                attestation: Attestation(rawValue: attestation) ?? .unverified
            )
        }
    }

    /// The passkey after a use; the same if there is nothing to store, as for a synchronized one on most days.
    func used(_ record: CredentialRecord, at date: Date) -> Passkey {
        var used = self
        used.signCount = record.signCount
        used.hasVerifiedUser = record.hasVerifiedUser
        used.isBackedUp = record.isBackedUp
        let isRecent = lastUsedAt.map { date.timeIntervalSince($0) < 86_400 } ?? false
        if used != self || !isRecent { used.lastUsedAt = date }
        return used
    }
}
