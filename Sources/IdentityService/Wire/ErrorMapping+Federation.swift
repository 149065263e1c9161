package import Federation

extension WireError {
    package init(_ error: FederationError) {
        self = error.wire
        cause = error.description
    }
}

extension FederationError {
    fileprivate var wire: WireError {
        switch self {
        case .providerNotFound: "OPERATION_NOT_ALLOWED : The identity provider configuration is not found."
        case .providerDisabled: "OPERATION_NOT_ALLOWED : The identity provider configuration is disabled."
        case .misconfigured(let problem): "INVALID_CONFIG : \(problem)"
        case .overloaded: .unavailable(cause: "federation.overloaded")
        case .unavailable, .issuerUnreachable: "INVALID_IDP_RESPONSE : provider unavailable"

        case .customParameterNotAllowed(let name): "INVALID_ARGUMENT : The custom parameter \"\(name)\" is not allowed."
        case .responseTypeNotOffered(let text): "INVALID_ARGUMENT : The response type \"\(text)\" is not supported."
        case .invalidRedirectURI: "INVALID_CONTINUE_URI"

        case .invalidRequestURI: "INVALID_REQUEST_URI"
        case .duplicateParameter(let name): "INVALID_IDP_RESPONSE : Duplicate parameter: \(name)"
        case .cancelled: "USER_CANCELLED"
        case .interactionRequired: "INVALID_IDP_RESPONSE : interaction_required"
        case .scopeRefused(let error, let description):
            "INVALID_CONFIG : \([error, description].compactMap(\.self).joined(separator: ": "))"
        case .providerError(let error, _): "INVALID_IDP_RESPONSE : \(error)"
        case .stateMismatch: "INVALID_IDP_RESPONSE : The state does not match."
        case .callbackMismatch: "INVALID_IDP_RESPONSE : The redirect URI does not match."
        case .issuerParameterMismatch: "INVALID_IDP_RESPONSE : The issuer of the response does not match."
        case .missingCredential: "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential."

        case .codeRejected: "INVALID_IDP_RESPONSE : invalid_grant"
        case .clientRejected: "INVALID_CONFIG : The provider rejected the client credentials."
        case .invalidAnswer, .subjectMismatch: "INVALID_IDP_RESPONSE : The provider's response is not valid."
        case .accessTokenRejected: "INVALID_IDP_RESPONSE : The provider rejected the access token."
        case .accessTokenOfAnotherClient: "INVALID_IDP_RESPONSE : The access token was issued to another client."
        case .consentRequired: "PROVIDER_CONSENT_REQUIRED"
        case .accessTokenNotAccepted(let id): "INVALID_IDP_RESPONSE : An access token alone is not accepted for \(id)."
        case .idTokenNotAccepted(let id): "INVALID_IDP_RESPONSE : An ID token is not accepted for \(id)."

        case .unparsableIDToken: "INVALID_IDP_RESPONSE : Unable to parse the ID Token."
        case .signatureInvalid: "INVALID_IDP_RESPONSE : Unable to verify the ID Token signature."
        case .issuerMismatch(let got, let want):
            "INVALID_IDP_RESPONSE : The issuer in ID Token \(got) does not match the expected one in config: \(want)."
        case .audienceMismatch(let got, let want):
            WireError(
                "INVALID_IDP_RESPONSE",
                "The audience in ID Token [\(got.joined(separator: ", "))] does not match the expected audience \(want)."
            )
        case .authorizedPartyMismatch(let party):
            WireError(
                "INVALID_IDP_RESPONSE",
                "The authorized party (azp) in ID Token \(party.isEmpty ? "is missing" : party): add it to audiences."
            )
        case .staleIDToken(let date): "INVALID_IDP_RESPONSE : ID Token issued at \(date) is stale to sign-in."
        case .missingSubject(let claims):
            "INVALID_IDP_RESPONSE : ID Token does not contain user's identity in 'sub' claim: \(claims)"
        case .nonceMissingInRequest: "MISSING_OR_INVALID_NONCE : Nonce is missing in the request."
        case .nonceMismatch:
            "MISSING_OR_INVALID_NONCE : The nonce in ID Token does not match the SHA256 hash of the raw nonce in the request."
        case .hashMismatch: "INVALID_IDP_RESPONSE : The hash in ID Token does not match."
        case .authenticationTooOld: "INVALID_IDP_RESPONSE : The authentication is too old."

        case .revocationNotSupported: "OPERATION_NOT_ALLOWED : The provider does not support revocation."
        case .notificationsNotSupported, .invalidNotification: "INVALID_NOTIFICATION"
        }
    }
}
