package import Accounts
import Administration
package import Federation
import HTTPTypes
package import Linking
import Postgres
import Projects
import Sessions
import Storage

/// The one place where errors of the modules become wire errors.
extension WireError {
    /// Never reveals more than the documented message: an error without a case here is an internal error.
    package init(mapping error: any Error) {
        switch error {
        case let error as WireError: self = error
        case let error as AccountsError: self.init(error)
        case let error as FederationError: self.init(error)
        case let error as RateLimitReached: self.init(error)
        case let error as PostgresError: self.init(error)
        case let error as ConfigurationError: self.init(error)
        case let error as AdministrationError: self.init(error)
        case let error as ConsoleError: self.init(error)
        case is CancellationError: self = .unavailable(cause: "cancelled")
        default:
            self = .internal
            cause = "\(type(of: error))"
        }
    }

    private init(_ error: RateLimitReached) {
        let code = "TOO_MANY_ATTEMPTS_TRY_LATER"
        switch error.kind {
        case .passwordTries, .passwordTriesPerAccount:
            self.init(
                code,
                "Access to this account has been temporarily disabled due to many failed login attempts. You can "
                    + "immediately restore it by resetting your password or you can try again later."
            )
        case .passwordTriesPerAddress, .signUpsPerAddress, .mailsPerAddress, .codeTriesPerAddress,
            .smsPerAddress, .methodQueriesPerAddress, .flowsPerAddress, .accessTokensPerAddress,
            .refreshTriesPerAddress, .consoleTriesPerAddress:
            self.init(
                code,
                "We have blocked all requests from this device due to unusual activity. Try again later."
            )
        case .mailsPerRecipient, .mailsPerAccount, .smsPerRecipient, .secondFactorTries, .consoleTries:
            self.init(code)
        case .mailsPerProject, .smsPerProject: self.init("QUOTA_EXCEEDED")
        }
        cause = "limit.\(error.kind.rawValue)"
    }

    private init(_ error: ConsoleError) {
        self =
            switch error {
            case .wrongCredentials: WireError("INVALID_LOGIN_CREDENTIALS")
            case .invalidSetUpCode, .setUpOver: WireError("INVALID_SESSION_INFO")
            case .passwordTooShort, .passwordTooLong: WireError("WEAK_PASSWORD")
            case .wrongCode: WireError("INVALID_CODE")
            }
        cause = "console.\(error)"
    }

    private init(_ error: ConfigurationError) {
        self =
            switch error {
            case .notFound: .status(.notFound, "NOT_FOUND", "CONFIGURATION_NOT_FOUND")
            case .alreadyExists: .status(.conflict, "ALREADY_EXISTS", "CONFIGURATION_EXISTS")
            case .unreadable: .internal
            }
        cause = "configuration.\(error.name)"
    }

    private init(_ error: AdministrationError) {
        self =
            switch error {
            case .invalid(let text): WireError("INVALID_CONFIG", text)
            case .changedMeanwhile: .changedMeanwhile
            case .invalidProviderID: WireError("INVALID_CONFIG_ID")
            case .missingClientID:
                WireError("MISSING_OAUTH_CLIENT_ID", "Client_id in OAuthIdpConfig cannot be empty.")
            case .missingIssuer: WireError("MISSING_ISSUER")
            case .missingRelyingParty:
                WireError("MISSING_SAML_RELYING_PARTY_CONFIG", "spConfig requires spEntityId and callbackUri.")
            case .tenantNotFound: .tenantNotFound
            // Firebase's error for a project without multi-tenancy.
            case .tenantsNotAllowed: WireError("INVALID_PROJECT_ID")
            }
    }

    private init(_ error: PostgresError) {
        let state = error.sqlState ?? ""
        let isTransient =
            switch error.code {
            case .connectionLost, .unavailable, .timeout, .cancelled, .overloaded, .transactionEnded: true
            // 40 serialization, 53 resources, 57P shutdown, 25006 a standby that was the primary
            default: ["40", "53", "57P"].contains { state.hasPrefix($0) } || state == "25006"
            }
        let cause = "postgres.\(error.code)" + (state.isEmpty ? "" : ".\(state)")
        self = isTransient ? .unavailable(cause: cause) : .internal
        self.cause = cause
    }

    package init(_ error: AccountsError) {
        switch error {
        case .missingIDToken: self.init("MISSING_ID_TOKEN")
        case .invalidIDToken: self.init("INVALID_ID_TOKEN")
        case .tooManyLocalIDs: self.init("LOCAL_ID_LIST_EXCEEDS_LIMIT")
        case .invalidPage: self.init("INVALID_PAGE_SELECTION")
        case .invalidDuration: self.init("INVALID_DURATION")
        case .tokenExpired: self.init("TOKEN_EXPIRED")
        case .userNotFound: self.init("USER_NOT_FOUND")
        case .userDisabled: self.init("USER_DISABLED")
        case .changedMeanwhile: self = .changedMeanwhile
        case .tenantMismatch: self.init("TENANT_ID_MISMATCH")
        case .unknownTenant: self.init("INVALID_TENANT_ID")
        case .projectDisabled: self.init("PROJECT_DISABLED")
        case .recentSignInRequired: self.init("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")

        case .missingCustomToken: self.init("MISSING_CUSTOM_TOKEN")
        case .invalidCustomToken(let error): self.init("INVALID_CUSTOM_TOKEN", error.rawValue)
        case .customTokenOfAnotherProject: self.init("CREDENTIAL_MISMATCH")
        case .missingUID: self.init("MISSING_IDENTIFIER")

        case .missingRefreshToken: self.init("MISSING_REFRESH_TOKEN")
        case .invalidRefreshToken: self.init("INVALID_REFRESH_TOKEN")
        case .projectNumberMismatch: self.init("PROJECT_NUMBER_MISMATCH")

        case .missingRequestURI: self.init("MISSING_REQUEST_URI")
        case .invalidRequestURI: self.init("INVALID_REQUEST_URI")
        case .invalidPendingToken: self.init("INVALID_PENDING_TOKEN")
        case .missingProviderOrCredential(let requestURI, let provider):
            self.init(
                "INVALID_CREDENTIAL_OR_PROVIDER_ID",
                "Invalid IdP response/credential: \(Self.withoutQuery(requestURI))?providerId=\(provider)"
            )
        case .providerNotFound: self.init(FederationError.providerNotFound)
        case .providerDisabled: self.init(FederationError.providerDisabled)
        case .federation(let error): self.init(error)
        case .providerNotLinked:
            self.init("INVALID_PROVIDER_ID", "The account has no identity of this provider.")
        case .providerTokensNotKept: self.init("OPERATION_NOT_ALLOWED", "The tokens of this provider are not stored.")
        case .providerConsentRequired: self.init("PROVIDER_CONSENT_REQUIRED")
        case .providerUnavailable: self.init("INVALID_IDP_RESPONSE", "provider unavailable")
        case .invalidFlow:
            self.init(
                "INVALID_IDP_RESPONSE",
                "The sign-in request is unknown, expired, already used, or not this client's."
            )
        case .accountNotFound: self.init("EMAIL_NOT_FOUND")
        case .signUpClosed: self.init("ADMIN_ONLY_OPERATION")
        case .duplicateCredential:
            self.init(
                "MISSING_OR_INVALID_NONCE",
                "Duplicate credential received. Please try again with a new credential."
            )
        case .linking(let refusal): self.init(refusal.wireCode)

        case .invalidCodeChallenge:
            self = .invalidRequest("codeChallenge must be a SHA-256 in base64url (S256).", field: "codeChallenge")

        case .missingIdentifier: self.init("MISSING_IDENTIFIER")
        case .invalidIdentifier: self.init("INVALID_IDENTIFIER")
        case .missingContinueURI: self.init("MISSING_CONTINUE_URI")
        case .invalidContinueURI(let detail): self.init("INVALID_CONTINUE_URI", detail.isEmpty ? nil : detail)
        case .reservedParameter(let name): self.init(FederationError.customParameterNotAllowed(name: name))

        case .missingEmail: self.init("MISSING_EMAIL")
        case .invalidEmail: self.init("INVALID_EMAIL")
        case .emailExists: self.init("EMAIL_EXISTS")
        case .emailNotFound: self.init("EMAIL_NOT_FOUND")
        case .missingNewEmail: self.init("MISSING_NEW_EMAIL")
        case .invalidNewEmail: self.init("INVALID_NEW_EMAIL")
        case .missingPassword: self.init("MISSING_PASSWORD")
        case .weakPassword: self.init("WEAK_PASSWORD", "Password should be at least 6 characters")
        case .passwordTooLong:
            self.init("PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "Password cannot be longer than 4096 characters")
        case .passwordMissesPolicy(let problems):
            self.init(
                "PASSWORD_DOES_NOT_MEET_REQUIREMENTS",
                "Missing password requirements: [\(problems.joined(separator: ", "))]"
            )
        case .invalidLoginCredentials: self.init("INVALID_LOGIN_CREDENTIALS")
        case .invalidPassword: self.init("INVALID_PASSWORD")
        case .passwordSignInDisabled: self.init("PASSWORD_LOGIN_DISABLED")
        case .signUpWithPasswordDisabled: self.init("OPERATION_NOT_ALLOWED")
        case .anonymousSignInDisabled: self.init("ADMIN_ONLY_OPERATION")
        case .verifyEmailBeforeChange:
            self.init("OPERATION_NOT_ALLOWED", "Please verify the new email before changing email.")
        case .displayNameTooLong: self.init("INVALID_PROFILE_ATTRIBUTE", "Display name too long.")
        case .invalidProfileAttribute(let detail): self.init("INVALID_PROFILE_ATTRIBUTE", detail)
        case .unsupportedParameters: self.init("INVALID_REQ_TYPE", "Unsupported request parameters.")
        case .unexpectedParameter(let detail): self.init("UNEXPECTED_PARAMETER", detail)
        case .insufficientPermission: self.init("INSUFFICIENT_PERMISSION")
        case .operationNotAllowed: self.init("OPERATION_NOT_ALLOWED")
        case .lastSignInMethod: self.init("OPERATION_NOT_ALLOWED", "The last sign-in method cannot be removed.")
        case .deletionClosed: self.init("ADMIN_ONLY_OPERATION")
        case .overloaded: self = .unavailable(cause: "accounts.overloaded")
        case .blockingFunction(let text): self.init("BLOCKING_FUNCTION_ERROR_RESPONSE", text)

        case .missingRequestType: self.init("MISSING_REQ_TYPE")
        case .unsupportedRequestType: self.init("INVALID_REQ_TYPE", "Unsupported request type.")
        case .unauthorizedDomain: self.init("UNAUTHORIZED_DOMAIN", "Domain not allowlisted by project")
        case .missingOOBCode: self.init("MISSING_OOB_CODE")
        case .invalidOOBCode: self.init("INVALID_OOB_CODE")
        case .expiredOOBCode: self.init("EXPIRED_OOB_CODE")
        case .emailOfAnotherCode:
            self.init("INVALID_EMAIL", "The email provided does not match the sign-in email address.")
        case .noActionURL:
            self.init("OPERATION_NOT_ALLOWED", "Set http.publicURL first: links in emails start with it.")

        case .missingPhoneNumber: self.init("MISSING_PHONE_NUMBER")
        case .invalidPhoneNumber: self.init("INVALID_PHONE_NUMBER", "Invalid format.")
        case .phoneNumberExists: self.init("PHONE_NUMBER_EXISTS")
        case .smsRegionRefused:
            self.init(
                "OPERATION_NOT_ALLOWED",
                "SMS unable to be sent until this region enabled by the app developer."
            )
        case .noSMSProvider: self.init("OPERATION_NOT_ALLOWED", "The project has no SMS provider.")
        case .missingSessionInfo: self.init("MISSING_SESSION_INFO")
        case .missingVerificationCode: self.init("MISSING_CODE")
        case .invalidSessionInfo: self.init("INVALID_SESSION_INFO")
        case .sessionExpired: self.init("SESSION_EXPIRED")
        case .invalidVerificationCode: self.init("INVALID_CODE")
        case .invalidTemporaryProof: self.init("INVALID_TEMPORARY_PROOF")

        case .missingLocalID: self.init("MISSING_LOCAL_ID")
        case .duplicateLocalID: self.init("DUPLICATE_LOCAL_ID")
        case .invalidLocalID: self.init("INVALID_ARGUMENT", "localId must have 1 to 128 characters.")
        case .claimsTooLarge: self.init("CLAIMS_TOO_LARGE")
        case .invalidClaims: self.init("INVALID_CLAIMS")
        case .forbiddenClaim(let name): self.init("FORBIDDEN_CLAIM", name)
        case .missingIdentifierForLink:
            self.init("MISSING_IDENTIFIER", "providerId & rawId are both required for provider linking")
        case .invalidProviderID: self.init("INVALID_PROVIDER_ID")
        case .unknownCodeClient:
            self.init(
                "INVALID_ARGUMENT",
                "The code's app is unknown: X-Ios-Bundle-Identifier must be one of the configured bundle IDs."
            )
        case .sessionNotFound: self.init("INVALID_ARGUMENT", "The session does not exist.")
        case .sameAccount: self.init("INVALID_ARGUMENT", "localId and mergedLocalId are the same account.")
        case .mergeConflict(let conflicts):
            self.init("MERGE_CONFLICT", conflicts.map(\.method.rawValue).joined(separator: ", "))
        case .mergeNotFound: self.init("MERGE_NOT_FOUND")
        case .mergeNotUndoable(let detail): self.init("MERGE_NOT_UNDOABLE", detail)
        case .secondFactor(let error): self.init(error)
        case .contended: self = .unavailable(cause: "accounts.contended")
        }
    }

    package init(_ error: FederationError) {
        let invalid = "INVALID_IDP_RESPONSE"
        let nonce = "MISSING_OR_INVALID_NONCE"
        let configuration = "INVALID_CONFIG"
        let invalidAnswer = "The provider's response is not valid."
        switch error {
        case .providerNotFound:
            self.init("OPERATION_NOT_ALLOWED", "The identity provider configuration is not found.")
        case .providerDisabled:
            self.init("OPERATION_NOT_ALLOWED", "The identity provider configuration is disabled.")
        case .misconfigured(let problem): self.init(configuration, problem.description)
        case .unavailable, .issuerUnreachable: self.init(invalid, "provider unavailable")

        case .customParameterNotAllowed(let name):
            self.init("INVALID_ARGUMENT", "The custom parameter \"\(name)\" is not allowed.")
        case .responseTypeNotOffered(let text):
            self.init("INVALID_ARGUMENT", "The response type \"\(text)\" is not supported.")
        case .invalidRedirectURI: self.init("INVALID_CONTINUE_URI")

        case .invalidRequestURI: self.init("INVALID_REQUEST_URI")
        case .duplicateParameter(let name): self.init(invalid, "Duplicate parameter: \(name)")
        case .cancelled: self.init("USER_CANCELLED")
        case .interactionRequired: self.init(invalid, "interaction_required")
        case .scopeRefused(let error, let description): self.init(configuration, Self.joined(error, description))
        case .providerError(let error, _): self.init(invalid, error)
        case .stateMismatch: self.init(invalid, "The state does not match.")
        case .callbackMismatch: self.init(invalid, "The redirect URI does not match.")
        case .issuerParameterMismatch: self.init(invalid, "The issuer of the response does not match.")
        case .missingCredential:
            self.init("INVALID_CREDENTIAL_OR_PROVIDER_ID", "Invalid IdP response/credential.")

        case .codeRejected: self.init(invalid, "invalid_grant")
        case .clientRejected: self.init(configuration, "The provider rejected the client credentials.")
        case .invalidAnswer, .subjectMismatch: self.init(invalid, invalidAnswer)
        case .accessTokenRejected: self.init(invalid, "The provider rejected the access token.")
        case .accessTokenOfAnotherClient: self.init(invalid, "The access token was issued to another client.")
        case .consentRequired: self.init("PROVIDER_CONSENT_REQUIRED")
        case .accessTokenNotAccepted(let provider):
            self.init(invalid, "An access token alone is not accepted for \(provider).")
        case .idTokenNotAccepted(let provider): self.init(invalid, "An ID token is not accepted for \(provider).")

        case .unparsableIDToken: self.init(invalid, "Unable to parse the ID Token.")
        case .signatureInvalid: self.init(invalid, "Unable to verify the ID Token signature.")
        case .issuerMismatch(let got, let want):
            self.init(invalid, "The issuer in ID Token \(got) does not match the expected one in config: \(want).")
        case .audienceMismatch(let got, let want):
            let got = got.joined(separator: ", ")
            self.init(invalid, "The audience in ID Token [\(got)] does not match the expected audience \(want).")
        case .staleIDToken(let issuedAt): self.init(invalid, "ID Token issued at \(issuedAt) is stale to sign-in.")
        case .missingSubject(let claims):
            self.init(invalid, "ID Token does not contain user's identity in 'sub' claim: \(claims)")
        case .nonceMissingInRequest: self.init(nonce, "Nonce is missing in the request.")
        case .nonceMismatch:
            self.init(nonce, "The nonce in ID Token does not match the SHA256 hash of the raw nonce in the request.")
        case .revocationNotSupported: self.init("OPERATION_NOT_ALLOWED", "The provider does not support revocation.")
        case .notificationsNotSupported, .invalidNotification: self.init("INVALID_NOTIFICATION")
        case .hashMismatch: self.init(invalid, "The hash in ID Token does not match.")
        case .authenticationTooOld: self.init(invalid, "The authentication is too old.")
        }
        cause = error.description
    }

    /// A refused notification: the response is the same for every cause, which only the log contains.
    ///
    /// Temporary errors ask the provider to send it again.
    package init(refusing error: any Error, from provider: ProviderID) {
        let reason = WireError(mapping: error)
        switch error {
        case AccountsError.federation(.unavailable), AccountsError.federation(.issuerUnreachable):
            self = .unavailable(cause: reason.cause ?? "")
        case _ where reason.status.kind == .serverError: self = reason
        case _ where FederationService.wantsUnauthorized(provider):
            self = .status(.unauthorized, "UNAUTHENTICATED", "INVALID_NOTIFICATION")
        default: self.init("INVALID_NOTIFICATION")
        }
        cause = reason.cause ?? reason.code
    }

    /// A request URI can contain a code, so only the part before its query is repeated.
    private static func withoutQuery(_ uri: String) -> Substring { uri.prefix { $0 != "?" && $0 != "#" } }

    private static func joined(_ error: String, _ description: String?) -> String {
        description.map { "\(error): \($0)" } ?? error
    }
}

extension ConfigurationError {
    fileprivate var name: String {
        switch self {
        case .notFound: "notFound"
        case .alreadyExists: "alreadyExists"
        case .unreadable: "unreadable"
        }
    }
}

extension LinkDecision.Refusal {
    /// The code of a refused link, as an error or as `errorMessage` in a response.
    package var wireCode: String {
        switch self {
        case .identityLinkedToAnotherAccount: "FEDERATED_USER_ID_ALREADY_LINKED"
        case .providerAlreadyLinked: "PROVIDER_ALREADY_LINKED"
        case .emailExists: "EMAIL_EXISTS"
        }
    }
}
