import Accounts
import HTTPTypes

/// An error of the handler page: for the user, and for the SDK if it may be told.
struct HandlerFault: Sendable, Hashable {
    var status: HTTPResponse.Status = .badRequest
    /// The SDKs' error code, without `auth/`.
    var code: String
    /// For the app's developer; one line.
    var text: String
    /// Seconds.
    var retryAfter: Int?

    /// - Throws: errors of the service itself.
    init(_ error: any Error) throws {
        if let error = error as? HandlerError {
            self.init(error)
            return
        }
        let wire = WireError(mapping: error)
        guard wire.status.kind != .serverError else { throw error }
        self.init(wire)
        status = .badRequest
    }

    init(_ wire: WireError) {
        let code =
            switch wire.code {
            case _ where wire.status.kind == .serverError: "internal-error"
            case "OPERATION_NOT_ALLOWED", "PROJECT_DISABLED": "operation-not-allowed"
            case "INVALID_PROVIDER_ID": "invalid-provider-id"
            case "INVALID_TENANT_ID": "invalid-tenant-id"
            case "CAPTCHA_CHECK_FAILED", "INVALID_RECAPTCHA_TOKEN": "captcha-check-failed"
            case "USER_CANCELLED": "user-cancelled"
            case "TOO_MANY_ATTEMPTS_TRY_LATER": "too-many-requests"
            case "INVALID_IDP_RESPONSE", "INVALID_REQUEST_URI": "invalid-credential"
            case "INVALID_ARGUMENT", nil: "argument-error"
            // The provider's configuration does not contain this page, or is wrong.
            default: "internal-error"
            }
        self.init(code: code, text: wire.message)
        status = wire.status
        retryAfter = wire.retryAfter
    }

    /// The texts for the user.
    var words: (title: PageText, advice: PageText) {
        switch code {
        case _ where status.kind == .serverError: (.failedTitle, .failedAdvice)
        case "operation-not-allowed", "invalid-provider-id": (.notOfferedTitle, .notOfferedAdvice)
        case "invalid-credential": (.flowEndedTitle, .flowEndedAdvice)
        case "web-storage-unsupported": (.nothingKeptTitle, .nothingKeptAdvice)
        case "unauthorized-domain", "app-not-authorized": (.unknownAppTitle, .unknownAppAdvice)
        default: (.cannotGoOnTitle, .cannotGoOnAdvice)
        }
    }

    init(code: String, text: String) {
        self.code = code
        self.text = WireError.line(text)
    }

    private init(_ error: HandlerError) {
        switch error {
        case .missingParameter("apiKey"), .invalidParameter("apiKey"):
            self.init(code: "invalid-api-key", text: "The API key does not belong to a project.")
        case .missingParameter(let name): self.init(code: "argument-error", text: "The parameter \(name) is missing.")
        case .invalidParameter(let name): self.init(code: "argument-error", text: "The parameter \(name) is not valid.")
        case .unsupportedAuthType:
            self.init(code: "operation-not-allowed", text: "This authType is not supported.")
        case .unauthorizedDomain:
            self.init(
                code: "unauthorized-domain",
                text: "The redirect URL is not on one of the project's authorized domains."
            )
        case .unregisteredApp:
            self.init(code: "app-not-authorized", text: "The app to return to is not registered in the project.")
        case .unknownFlow:
            self.init(
                code: "invalid-credential",
                text: "This sign-in has ended, took too long, or started in another browser."
            )
        }
    }

    /// The browser blocks cookies and storage, so it cannot be recognized.
    static let storageBlocked = HandlerFault(
        code: "web-storage-unsupported",
        text: "This browser blocks cookies and data of this page."
    )
}
