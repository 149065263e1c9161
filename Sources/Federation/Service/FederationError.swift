package import Linking

/// Why a sign-in with a provider failed.
///
/// Each case names the wire message that it becomes; the values are those that the message quotes, cut to 200
/// characters without control characters. The description is for logs: it contains no external value, except what an
/// admin has to fix.
package enum FederationError: Error, Sendable, Hashable {
    // Configuration

    /// `OPERATION_NOT_ALLOWED : The identity provider configuration is not found.`
    case providerNotFound
    /// `OPERATION_NOT_ALLOWED : The identity provider configuration is disabled.`
    case providerDisabled
    /// `INVALID_CONFIG : <reason>`; the reason never contains a secret.
    case misconfigured(InvalidDefinition)

    // The request that starts a flow

    /// A custom parameter that the service sets itself, that is repeated, or that the definition does not allow:
    /// `INVALID_ARGUMENT : The custom parameter "<name>" is not allowed.`
    case customParameterNotAllowed(name: String)
    /// `INVALID_ARGUMENT : The response type "<text>" is not supported.`
    case responseTypeNotOffered(String)
    /// Not absolute, with a fragment, with control characters: `INVALID_CONTINUE_URI`.
    case invalidRedirectURI

    // The callback

    /// `MISSING_REQUEST_URI` or, when not absolute, `INVALID_REQUEST_URI`.
    case invalidRequestURI
    /// One of `code`, `state`, `id_token`, `access_token`, `error`, `iss`… is repeated: `INVALID_IDP_RESPONSE :
    /// Duplicate parameter: <name>`.
    case duplicateParameter(name: String)
    /// The user refused, or the provider returned nothing: `USER_CANCELLED`.
    case cancelled
    /// `prompt=none`, but the user must act: `INVALID_IDP_RESPONSE : interaction_required`.
    case interactionRequired(error: String)
    /// The provider refused a scope: `INVALID_CONFIG : <error>[: <description>]`, for developers.
    case scopeRefused(error: String, description: String?)
    /// Any other `error` of a callback: `INVALID_IDP_RESPONSE : <error>`.
    case providerError(error: String, description: String?)
    /// The callback has no state, or another flow's: `INVALID_IDP_RESPONSE : The state does not match.`
    case stateMismatch
    /// The callback arrived at another address than the flow's: `INVALID_IDP_RESPONSE : The redirect URI does not
    /// match.`
    case callbackMismatch
    /// RFC 9207 `iss` is missing although announced, or names another issuer (T-B3); or the provider's issuer has
    /// changed since the flow started: `INVALID_IDP_RESPONSE : The issuer of the response does not match.`
    case issuerParameterMismatch
    /// Nothing to verify: `INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: <url>?providerId=…`.
    case missingCredential

    // The provider

    /// Too many already wait for a document of the provider: 503.
    case overloaded

    // The exchange and the profile

    /// The code is wrong, used or expired: `INVALID_IDP_RESPONSE : invalid_grant`
    case codeRejected(error: String)
    /// The provider refuses our client id or secret; an admin must act:
    /// `INVALID_CONFIG : The provider rejected the client credentials.`
    case clientRejected(error: String)
    /// 429, 5xx, timeout, broken connection: `INVALID_IDP_RESPONSE : provider unavailable`
    case unavailable(Unavailable)
    /// A response that is not a JSON object or form, lacks `access_token` or `id_token`, also in a callback, or has
    /// another `token_type`: `INVALID_IDP_RESPONSE : The provider's response is not valid.`
    case invalidAnswer(Answer)
    /// The profile belongs to someone else (T-C12), or has no subject: as ``invalidAnswer(_:)``.
    case subjectMismatch
    /// The provider refused a call with the access token, or reports that it has expired: `INVALID_IDP_RESPONSE : The
    /// provider rejected the access token.`
    case accessTokenRejected
    /// The provider reports that the access token was issued to another client (T-C3): `INVALID_IDP_RESPONSE : The
    /// access token was issued to another client.`
    case accessTokenOfAnotherClient
    /// The provider no longer renews the access token; the user must sign in there again: `PROVIDER_CONSENT_REQUIRED`.
    case consentRequired(error: String)
    /// An access token alone proves nothing here (T-C3):
    /// `INVALID_IDP_RESPONSE : An access token alone is not accepted for <provider>.`
    case accessTokenNotAccepted(ProviderID)

    /// The provider issues no ID tokens that an app could send itself: `INVALID_IDP_RESPONSE : An ID token is not
    /// accepted for <provider>.`
    case idTokenNotAccepted(ProviderID)

    // After the sign-in

    /// Grants cannot be revoked at the provider: `OPERATION_NOT_ALLOWED : The provider does not support revocation.`
    case revocationNotSupported
    /// As ``invalidNotification(_:)``.
    case notificationsNotSupported
    /// Not sent by the provider (T-C13), or otherwise invalid: `INVALID_NOTIFICATION`.
    case invalidNotification(Notification)

    // The ID token

    /// `INVALID_IDP_RESPONSE : Unable to parse the ID Token.`
    case unparsableIDToken
    /// Signature, algorithm or key: `INVALID_IDP_RESPONSE : Unable to verify the ID Token signature.`
    case signatureInvalid(Signature)
    /// `INVALID_IDP_RESPONSE : The issuer in ID Token <got> does not match the expected one in config: <want>.`
    case issuerMismatch(got: String, want: String)
    /// `aud` or `azp`:
    /// `INVALID_IDP_RESPONSE : The audience in ID Token [<got, …>] does not match the expected audience <want>.`
    case audienceMismatch(got: [String], want: String)
    /// `azp` is another client, or is missing beside several audiences; empty if it is no text.
    case authorizedPartyMismatch(String)
    /// Expired, issued in the future, too old, or without the times: `INVALID_IDP_RESPONSE : ID Token issued at <iat>
    /// is stale to sign-in.`
    ///
    /// `issuedAt` is empty if `iat` is missing.
    case staleIDToken(issuedAt: String)
    /// `INVALID_IDP_RESPONSE : ID Token does not contain user's identity in 'sub' claim: <claims>`, a JSON object, cut.
    case missingSubject(claims: String)
    /// Discovery or keys cannot be loaded: `INVALID_IDP_RESPONSE : provider unavailable`
    case issuerUnreachable
    /// `MISSING_OR_INVALID_NONCE : Nonce is missing in the request.`
    case nonceMissingInRequest
    /// `MISSING_OR_INVALID_NONCE : The nonce in ID Token does not match the SHA256 hash of the raw nonce in the request.`
    case nonceMismatch
    /// `at_hash` or `c_hash` is wrong (T-C9): `INVALID_IDP_RESPONSE : The hash in ID Token does not match.`
    case hashMismatch
    /// `max_age` was requested, and `auth_time` is missing or too old; or `prompt=login`, and it is earlier:
    /// `INVALID_IDP_RESPONSE : The authentication is too old.`
    case authenticationTooOld

    package enum Unavailable: String, Sendable, Hashable, Codable {
        case unreachable, timedOut, tooLarge, refusedAddress, busy, malformed, cancelled
        /// 429.
        case throttled
        /// 5xx.
        case serverError
        /// 3xx, which is never followed.
        case redirect
    }

    package enum Answer: String, Sendable, Hashable {
        case notUnderstood, missingAccessToken, missingIDToken, tokenType, missingSubject, refused
    }

    package enum Notification: String, Sendable, Hashable {
        case malformed, issuer, audience, time
    }

    package enum Signature: String, Sendable, Hashable {
        case algorithm, unknownKey, signature, header
    }
}

extension FederationError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .providerNotFound: "provider.notFound"
        case .providerDisabled: "provider.disabled"
        case .misconfigured(let problem): "provider.misconfigured: \(SafeText.short(problem.description))"
        case .customParameterNotAllowed: "request.customParameter"
        case .responseTypeNotOffered: "request.responseType"
        case .invalidRedirectURI: "request.redirectURI"
        case .invalidRequestURI: "callback.requestURI"
        case .duplicateParameter: "callback.duplicateParameter"
        case .cancelled: "callback.cancelled"
        case .interactionRequired: "callback.interactionRequired"
        case .scopeRefused: "callback.scopeRefused"
        case .providerError: "callback.error"
        case .stateMismatch: "callback.state"
        case .callbackMismatch: "callback.redirectURI"
        case .issuerParameterMismatch: "callback.issuer"
        case .missingCredential: "callback.missingCredential"
        case .codeRejected: "exchange.codeRejected"
        case .clientRejected: "exchange.clientRejected"
        case .overloaded: "provider.overloaded"
        case .unavailable(let reason): "provider.unavailable.\(reason.rawValue)"
        case .invalidAnswer(let reason): "provider.answer.\(reason.rawValue)"
        case .subjectMismatch: "profile.subjectMismatch"
        case .accessTokenRejected: "profile.accessTokenRejected"
        case .accessTokenOfAnotherClient: "credential.accessTokenOfAnotherClient"
        case .consentRequired: "refresh.consentRequired"
        case .accessTokenNotAccepted: "credential.accessTokenNotAccepted"
        case .idTokenNotAccepted: "credential.idTokenNotAccepted"
        case .revocationNotSupported: "revocation.notSupported"
        case .notificationsNotSupported: "notification.notSupported"
        case .invalidNotification(let reason): "notification.\(reason.rawValue)"
        case .unparsableIDToken: "idToken.unparsable"
        case .signatureInvalid(let reason): "idToken.\(reason.rawValue)"
        case .issuerMismatch: "idToken.issuer"
        case .audienceMismatch: "idToken.audience"
        case .authorizedPartyMismatch: "idToken.authorizedParty"
        case .staleIDToken: "idToken.stale"
        case .missingSubject: "idToken.subject"
        case .issuerUnreachable: "provider.issuerUnreachable"
        case .nonceMissingInRequest: "idToken.nonceMissingInRequest"
        case .nonceMismatch: "idToken.nonce"
        case .hashMismatch: "idToken.hash"
        case .authenticationTooOld: "idToken.authTime"
        }
    }
}
