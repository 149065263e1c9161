/// Why the handler page refuses a request.
package enum HandlerError: Error, Sendable, Hashable {
    /// The parameter's name, as SDKs send it.
    case missingParameter(String)
    case invalidParameter(String)
    case unsupportedAuthType
    /// The page to return to is not on one of the project's authorized domains.
    case unauthorizedDomain
    /// The app to return to is not registered.
    case unregisteredApp
    /// Unknown, expired, used, or started in another browser.
    case unknownFlow
}
