import HTTPTypes

/// Errors for missing and wrong credentials, with Firebase's messages.
extension WireError {
    static func missingAPIKey(_ host: Route.Host) -> WireError {
        .status(
            .forbidden,
            "PERMISSION_DENIED",
            host == .secureToken
                ? "Method doesn't allow unregistered callers (callers without established identity). Please use API Key"
                    + " or other form of API consumer identity to call this API."
                : "The request is missing a valid API key."
        )
    }

    static func invalidAPIKey(_ host: Route.Host) -> WireError {
        let message = "API key not valid. Please pass a valid API key."
        var error = status(.badRequest, "INVALID_ARGUMENT", message)
        error.reason = "keyInvalid"  // the only mark by which iOS knows it
        error.details = [
            .errorInfo(reason: "API_KEY_INVALID", service: host.rawValue),
            .localizedMessage(message),
        ]
        return error
    }

    static let missingCredential: WireError = {
        var error = status(
            .unauthorized,
            "UNAUTHENTICATED",
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other"
                + " valid authentication credential."
        )
        error.reason = "required"
        return error
    }()

    static let keyInsteadOfCredential: WireError = {
        var error = status(
            .unauthorized,
            "UNAUTHENTICATED",
            "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials"
                + " that assert a principal. See https://cloud.google.com/docs/authentication"
        )
        error.reason = "required"
        error.details = [.errorInfo(reason: "CREDENTIALS_MISSING", service: Route.Host.identityToolkit.rawValue)]
        return error
    }()

    static let invalidCredential: WireError = {
        var error = status(
            .unauthorized,
            "UNAUTHENTICATED",
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid"
                + " authentication credential."
        )
        error.reason = "authError"
        return error
    }()

    package static let forbidden: WireError = {
        var error = status(.forbidden, "PERMISSION_DENIED", "The caller does not have permission")
        error.reason = "forbidden"
        return error
    }()

    static let projectNotFound = status(.notFound, "NOT_FOUND", "PROJECT_NOT_FOUND")
    package static let tenantNotFound = status(.notFound, "NOT_FOUND", "TENANT_NOT_FOUND")
}
