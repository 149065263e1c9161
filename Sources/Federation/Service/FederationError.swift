package import Domain

/// Why a sign-in with a provider failed.
///
/// The values are those that the message quotes, cut to 200 characters without control characters. The description is
/// for logs: it contains no external value, except what an admin has to fix.
package enum FederationError: Error, Sendable, Hashable {
    // Configuration

    case providerNotFound
    case providerDisabled
    /// The reason never contains a secret.
    case misconfigured(InvalidDefinition)

    // The request that starts a flow

    /// A custom parameter that the service sets itself, that is repeated, or that the definition does not allow.
    case customParameterNotAllowed(name: String)
    case responseTypeNotOffered(String)
    /// Not absolute, with a fragment, with control characters.
    case invalidRedirectURI

    // The callback

    case invalidRequestURI
    /// One of `code`, `state`, `id_token`, `access_token`, `error`, `iss`… is repeated.
    case duplicateParameter(name: String)
    /// The user refused, or the provider returned nothing.
    case cancelled
    /// `prompt=none`, but the user must act.
    case interactionRequired(error: String)
    /// The provider refused a scope; the message is for developers.
    case scopeRefused(error: String, description: String?)
    /// Any other `error` of a callback.
    case providerError(error: String, description: String?)
    /// The callback has no state, or another flow's.
    case stateMismatch
    /// The callback arrived at another address than the flow's.
    case callbackMismatch
    /// RFC 9207 `iss` is missing although announced, or names another issuer (T-B3); or the provider's issuer has
    /// changed since the flow started.
    case issuerParameterMismatch
    /// Nothing to verify.
    case missingCredential

    // The provider

    /// Too many already wait for a document of the provider: 503.
    case overloaded

    // The exchange and the profile

    /// The code is wrong, used or expired.
    case codeRejected(error: String)
    /// The provider refuses our client id or secret; an admin must act.
    case clientRejected(error: String)
    /// 429, 5xx, timeout, broken connection.
    case unavailable(Unavailable)
    /// A response that is not a JSON object or form, lacks `access_token` or `id_token`, also in a callback, or has
    /// another `token_type`.
    case invalidAnswer(Answer)
    /// The profile belongs to someone else (T-C12), or has no subject: as ``invalidAnswer(_:)``.
    case subjectMismatch
    /// The provider refused a call with the access token, or reports that it has expired.
    case accessTokenRejected
    /// The provider reports that the access token was issued to another client (T-C3).
    case accessTokenOfAnotherClient
    /// The provider no longer renews the access token; the user must sign in there again.
    case consentRequired(error: String)
    /// An access token alone proves nothing here (T-C3).
    case accessTokenNotAccepted(ProviderID)

    /// The provider issues no ID tokens that an app could send itself.
    case idTokenNotAccepted(ProviderID)

    // After the sign-in

    /// Grants cannot be revoked at the provider.
    case revocationNotSupported
    /// As ``invalidNotification(_:)``.
    case notificationsNotSupported
    /// Not sent by the provider (T-C13), or otherwise invalid.
    case invalidNotification(Notification)

    // The ID token

    case unparsableIDToken
    /// Signature, algorithm or key.
    case signatureInvalid(Signature)
    case issuerMismatch(got: String, want: String)
    /// `aud` or `azp`.
    case audienceMismatch(got: [String], want: String)
    /// `azp` is another client, or is missing beside several audiences; empty if it is no text.
    case authorizedPartyMismatch(String)
    /// Expired, issued in the future, too old, or without the times; `issuedAt` is empty if `iat` is missing.
    case staleIDToken(issuedAt: String)
    /// The claims are a JSON object, cut.
    case missingSubject(claims: String)
    /// Discovery or keys cannot be loaded.
    case issuerUnreachable
    case nonceMissingInRequest
    case nonceMismatch
    /// `at_hash` or `c_hash` is wrong (T-C9).
    case hashMismatch
    /// `max_age` was requested, and `auth_time` is missing or too old; or `prompt=login`, and it is earlier.
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
    package var description: String { texts.log }

    /// `CODE`, or `CODE : detail`; empty for ``overloaded``, which has a status.
    package var message: String { texts.message }

    private var texts: (log: String, message: String) {
        switch self {
        case .providerNotFound:
            ("provider.notFound", "OPERATION_NOT_ALLOWED : The identity provider configuration is not found.")
        case .providerDisabled:
            ("provider.disabled", "OPERATION_NOT_ALLOWED : The identity provider configuration is disabled.")
        case .misconfigured(let problem):
            ("provider.misconfigured: \(SafeText.short(problem.description))", "INVALID_CONFIG : \(problem)")
        case .overloaded: ("provider.overloaded", "")
        case .unavailable(let reason):
            ("provider.unavailable.\(reason.rawValue)", "INVALID_IDP_RESPONSE : provider unavailable")
        case .issuerUnreachable: ("provider.issuerUnreachable", "INVALID_IDP_RESPONSE : provider unavailable")
        case .customParameterNotAllowed(let name):
            ("request.customParameter", "INVALID_ARGUMENT : The custom parameter \"\(name)\" is not allowed.")
        case .responseTypeNotOffered(let text):
            ("request.responseType", "INVALID_ARGUMENT : The response type \"\(text)\" is not supported.")
        case .invalidRedirectURI: ("request.redirectURI", "INVALID_CONTINUE_URI")
        case .invalidRequestURI: ("callback.requestURI", "INVALID_REQUEST_URI")
        case .duplicateParameter(let name):
            ("callback.duplicateParameter", "INVALID_IDP_RESPONSE : Duplicate parameter: \(name)")
        case .cancelled: ("callback.cancelled", "USER_CANCELLED")
        case .interactionRequired: ("callback.interactionRequired", "INVALID_IDP_RESPONSE : interaction_required")
        case .scopeRefused(let error, let description):
            (
                "callback.scopeRefused",
                "INVALID_CONFIG : \([error, description].compactMap(\.self).joined(separator: ": "))"
            )
        case .providerError(let error, _): ("callback.error", "INVALID_IDP_RESPONSE : \(error)")
        case .stateMismatch: ("callback.state", "INVALID_IDP_RESPONSE : The state does not match.")
        case .callbackMismatch: ("callback.redirectURI", "INVALID_IDP_RESPONSE : The redirect URI does not match.")
        case .issuerParameterMismatch:
            ("callback.issuer", "INVALID_IDP_RESPONSE : The issuer of the response does not match.")
        case .missingCredential:
            ("callback.missingCredential", "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential.")
        case .codeRejected: ("exchange.codeRejected", "INVALID_IDP_RESPONSE : invalid_grant")
        case .clientRejected:
            ("exchange.clientRejected", "INVALID_CONFIG : The provider rejected the client credentials.")
        case .invalidAnswer(let reason):
            ("provider.answer.\(reason.rawValue)", "INVALID_IDP_RESPONSE : The provider's response is not valid.")
        case .subjectMismatch:
            ("profile.subjectMismatch", "INVALID_IDP_RESPONSE : The provider's response is not valid.")
        case .accessTokenRejected:
            ("profile.accessTokenRejected", "INVALID_IDP_RESPONSE : The provider rejected the access token.")
        case .accessTokenOfAnotherClient:
            (
                "credential.accessTokenOfAnotherClient",
                "INVALID_IDP_RESPONSE : The access token was issued to another client."
            )
        case .consentRequired: ("refresh.consentRequired", "PROVIDER_CONSENT_REQUIRED")
        case .accessTokenNotAccepted(let id):
            (
                "credential.accessTokenNotAccepted",
                "INVALID_IDP_RESPONSE : An access token alone is not accepted for \(id)."
            )
        case .idTokenNotAccepted(let id):
            ("credential.idTokenNotAccepted", "INVALID_IDP_RESPONSE : An ID token is not accepted for \(id).")
        case .unparsableIDToken: ("idToken.unparsable", "INVALID_IDP_RESPONSE : Unable to parse the ID Token.")
        case .signatureInvalid(let reason):
            ("idToken.\(reason.rawValue)", "INVALID_IDP_RESPONSE : Unable to verify the ID Token signature.")
        case .issuerMismatch(let got, let want):
            (
                "idToken.issuer",
                """
                INVALID_IDP_RESPONSE : The issuer in ID Token \(got) does not match the expected one in config: \
                \(want).
                """
            )
        case .audienceMismatch(let got, let want):
            (
                "idToken.audience",
                """
                INVALID_IDP_RESPONSE : The audience in ID Token [\(got.joined(separator: ", "))] does not match the \
                expected audience \(want).
                """
            )
        case .authorizedPartyMismatch(let party):
            (
                "idToken.authorizedParty",
                """
                INVALID_IDP_RESPONSE : The authorized party (azp) in ID Token \(party.isEmpty ? "is missing" : party): \
                add it to audiences.
                """
            )
        case .staleIDToken(let date):
            ("idToken.stale", "INVALID_IDP_RESPONSE : ID Token issued at \(date) is stale to sign-in.")
        case .missingSubject(let claims):
            (
                "idToken.subject",
                "INVALID_IDP_RESPONSE : ID Token does not contain user's identity in 'sub' claim: \(claims)"
            )
        case .nonceMissingInRequest:
            ("idToken.nonceMissingInRequest", "MISSING_OR_INVALID_NONCE : Nonce is missing in the request.")
        case .nonceMismatch:
            (
                "idToken.nonce",
                """
                MISSING_OR_INVALID_NONCE : The nonce in ID Token does not match the SHA256 hash of the raw nonce in \
                the request.
                """
            )
        case .hashMismatch: ("idToken.hash", "INVALID_IDP_RESPONSE : The hash in ID Token does not match.")
        case .authenticationTooOld: ("idToken.authTime", "INVALID_IDP_RESPONSE : The authentication is too old.")
        case .revocationNotSupported:
            ("revocation.notSupported", "OPERATION_NOT_ALLOWED : The provider does not support revocation.")
        case .notificationsNotSupported: ("notification.notSupported", "INVALID_NOTIFICATION")
        case .invalidNotification(let reason): ("notification.\(reason.rawValue)", "INVALID_NOTIFICATION")
        }
    }
}
