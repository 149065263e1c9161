/// Why the handler page does nothing for whoever opened it.
package enum HandlerError: Error, Sendable, Hashable {
    /// The parameter's name, as SDKs send it.
    case missingParameter(String)
    case invalidParameter(String)
    case unsupportedAuthType
    /// The page to return to is on no domain of the project.
    case unauthorizedDomain
    /// The app to return to is not registered.
    case unregisteredApp
    /// Unknown, expired, used, or begun in another browser.
    case unknownFlow
}
