package import Accounts

extension WireError {
    package init(_ refusal: PasskeyRefusal) {
        self =
            switch refusal {
            case .notEnabled: "PASSKEY_NOT_ENABLED"
            case .missingResponse: "MISSING_AUTHENTICATOR_RESPONSE"
            case .invalidCredentialID: "INVALID_CREDENTIAL_ID"
            case .invalidResponse: "INVALID_AUTHENTICATOR_RESPONSE"
            case .challengeTimeout: "PASSKEY_CHALLENGE_TIMEOUT"
            case .enrollmentNotFound: "PASSKEY_ENROLLMENT_NOT_FOUND"
            case .exists: "PASSKEY_EXISTS"
            case .tooMany: "PASSKEY_LIMIT_EXCEEDED"
            }
    }
}
