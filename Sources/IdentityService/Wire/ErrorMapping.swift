package import Accounts
import Administration
package import Domain
package import Federation
import HTTPTypes
package import OAuth
import Postgres
import Projects
import Sessions
import Storage

/// Errors of the modules become wire errors here, if they do not carry their message themselves.
extension WireError {
    /// Never reveals more than the documented message: an error without a case here is an internal error.
    package init(mapping error: any Error) {
        switch error {
        case let error as WireError: self = error
        case let error as AccountsError: self.init(error)
        case let error as FederationError: self.init(error)
        case let error as RateLimitReached: self.init(error)
        case is AccountBusy: self = .accountBusy
        case let error as PostgresError: self.init(error)
        case let error as ConfigurationError: self.init(error)
        case let error as AdministrationError: self.init(error)
        case let error as ConsoleError: self.init(error)
        case let error as OAuthError: self.init(error)
        case is CancellationError: self = .unavailable(cause: "cancelled")
        default:
            self = .internal
            cause = "\(type(of: error))"
        }
    }

    package init(_ error: AccountsError) {
        switch error.cause {
        case .federation(let error): self.init(error)
        case .field(let name): self = .invalidRequest(error.message, field: name)
        case .changedMeanwhile: self = .changedMeanwhile
        case .unavailable(let cause): self = .unavailable(cause: cause)
        case nil: self = "\(error.message)"
        }
    }

    package init(_ error: FederationError) {
        self = error == .overloaded ? .unavailable(cause: "") : "\(error.message)"
        cause = error.description
    }

    /// The status that each code has (RFC 6749 §5.2, RFC 6750 §3.1).
    package init(_ error: OAuthError) {
        switch error.code {
        case .invalidClient, .invalidToken: self = .status(.unauthorized, "UNAUTHENTICATED", error.description)
        case .insufficientScope: self = .status(.forbidden, "PERMISSION_DENIED", error.description)
        default: self = .oauth(error.code.rawValue, error.description)
        }
        oauthCode = error.code.rawValue
        cause = "oauth.\(error.code.rawValue)"
    }

    private init(_ error: RateLimitReached) {
        switch error.kind {
        case .passwordTries, .passwordTriesPerAccount:
            self = """
                TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled due to many failed \
                login attempts. You can immediately restore it by resetting your password or you can try again later.
                """
        case .passwordTriesPerAddress, .signUpsPerAddress, .mailsPerAddress, .codeTriesPerAddress,
            .smsPerAddress, .methodQueriesPerAddress, .flowsPerAddress, .accessTokensPerAddress,
            .refreshTriesPerAddress, .clientsPerAddress, .consoleTriesPerAddress:
            self = """
                TOO_MANY_ATTEMPTS_TRY_LATER : We have blocked all requests from this device due to unusual activity. \
                Try again later.
                """
        case .passwordChanges, .signInsPerAccount, .changesPerAccount, .mailsPerRecipient, .mailsPerAccount,
            .smsPerRecipient, .secondFactorTries,
            .silentGrants, .consoleTries:
            self = "TOO_MANY_ATTEMPTS_TRY_LATER"
        case .mailsPerProject, .smsPerProject: self = "QUOTA_EXCEEDED"
        }
        oauthCode = OAuthError.Code.temporarilyUnavailable.rawValue
        cause = "limit.\(error.kind.rawValue)"
    }

    private static var accountBusy: WireError {
        var error: WireError = "TOO_MANY_ATTEMPTS_TRY_LATER"
        error.oauthCode = OAuthError.Code.temporarilyUnavailable.rawValue
        error.cause = "accountBusy"
        return error
    }

    private init(_ error: ConsoleError) {
        self =
            switch error {
            case .wrongCredentials: "INVALID_LOGIN_CREDENTIALS"
            case .invalidSetUpCode, .setUpOver: "INVALID_SESSION_INFO"
            case .passwordTooShort, .passwordTooLong: "WEAK_PASSWORD"
            case .wrongCode: "INVALID_CODE"
            }
        cause = "console.\(error)"
    }

    private init(_ error: ConfigurationError) {
        self =
            switch error {
            case .notFound: .status(.notFound, "NOT_FOUND", "CONFIGURATION_NOT_FOUND")
            case .alreadyExists: .status(.conflict, "ALREADY_EXISTS", "CONFIGURATION_EXISTS")
            case .tokensKept:
                WireError(
                    "INVALID_CONFIG",
                    "The stored tokens of users would be sent elsewhere: set definition.keepTokens to false, and try again "
                        + "in two minutes."
                )
            // It lasts a minute at most.
            case .endingGrants: .changedMeanwhile
            case .tooLarge:
                WireError(
                    "INVALID_CONFIG",
                    "A project's configuration, with its tenants, providers and keys, can have at most 8 MiB."
                )
            case .unreadable: .internal
            }
        cause = "configuration.\(error.name)"
    }

    private init(_ error: AdministrationError) {
        self =
            switch error {
            case .invalid(let text): WireError("INVALID_CONFIG", text)
            case .changedMeanwhile: .changedMeanwhile
            case .ofServiceOnly(let setting):
                .status(.forbidden, "PERMISSION_DENIED", "Only an admin of all projects may change \(setting).")
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

    /// A refused notification: the response is the same for every cause, which only the log contains.
    ///
    /// Temporary errors ask the provider to send it again.
    package init(refusing error: any Error, from provider: ProviderID) {
        let reason = WireError(mapping: error)
        switch (error as? AccountsError)?.cause {
        case .federation(.unavailable), .federation(.issuerUnreachable): self = .unavailable(cause: reason.cause ?? "")
        case _ where reason.status.kind == .serverError: self = reason
        case _ where FederationService.wantsUnauthorized(provider):
            self = .status(.unauthorized, "UNAUTHENTICATED", "INVALID_NOTIFICATION")
        default: self.init("INVALID_NOTIFICATION")
        }
        cause = reason.cause ?? reason.code
    }
}

extension ConfigurationError {
    fileprivate var name: String {
        switch self {
        case .notFound: "notFound"
        case .alreadyExists: "alreadyExists"
        case .tokensKept: "tokensKept"
        case .endingGrants: "endingGrants"
        case .tooLarge: "tooLarge"
        case .unreadable: "unreadable"
        }
    }
}
