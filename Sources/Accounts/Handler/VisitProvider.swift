import Domain
package import Federation
import Projects
package import Secrets
import Storage
import Text

extension AccountsService { package var visitProvider: VisitProvider { VisitProvider(service: self) } }

/// Handles an SDK's request on the handler page: reads the destination of the result, and sends the browser to the
/// provider.
package struct VisitProvider: Sendable {
    let service: AccountsService

    /// The page's parameters as an SDK sent them, unchecked.
    package struct Request: Sendable {
        package var apiKey: String
        package var appName: String?
        package var authType: String?
        package var providerID: String?
        package var redirectURL: String?
        package var eventID: String?
        package var tenantID: String?
        package var scopes: [String] = []
        package var customParameters: [String: String] = [:]
        /// The SHA-256 of an app's secret in hexadecimal.
        package var sessionID: String?
        package var bundleID: String?
        package var clientID: String?
        package var appID: String?
        package var packageName: String?
        /// `hl`: the user's language, BCP 47.
        package var language: String?

        package init(apiKey: String) { self.apiKey = apiKey }
    }

    package struct Started: Sendable {
        package var authURI: String
        package var state: Secret
        /// The secret that the browser presents when it returns.
        package var browser: Secret
    }

    // MARK: Where the result goes

    /// - Throws: errors after which only the page, and no SDK, may be told.
    package func destination(of request: Request, _ caller: Caller) throws(HandlerError) -> HandlerVisit {
        guard let type = request.authType, !type.isEmpty else { throw .missingParameter("authType") }
        var visit = HandlerVisit(
            authType: type,
            eventID: try eventID(of: request),
            destination: try request.bundleID == nil && request.packageName == nil
                ? webDestination(type, request) : nativeDestination(type, request)
        )
        visit.language = request.language
        try requireAllowed(visit.destination, caller)
        guard request.redirectURL.map({ allows($0, caller) }) ?? true else { throw .unauthorizedDomain }
        return visit
    }

    /// Repeated when the browser returns, because the project may have removed a domain or an app in the meantime.
    func requireAllowed(_ destination: HandlerVisit.Destination, _ caller: Caller) throws(HandlerError) {
        let settings = caller.project.settings
        switch destination {
        // The page checks this itself.
        case .popup, .signInPage, .console: return
        case .redirect(_, _, let url): guard allows(url, caller) else { throw .unauthorizedDomain }
        // The emulator has no registered apps.
        case .ios(let bundleID, let scheme):
            guard service.options.development || settings.allowsReturn(toBundle: bundleID, scheme: scheme) else {
                throw .unregisteredApp
            }
        case .android(let package):
            guard service.options.development || settings.allowsReturn(toPackage: package) else {
                throw .unregisteredApp
            }
        }
    }

    private func webDestination(_ type: String, _ request: Request) throws(HandlerError) -> HandlerVisit.Destination {
        guard let appName = request.appName, !appName.isEmpty else { throw .missingParameter("appName") }
        guard appName.utf8.count <= 256 else { throw .invalidParameter("appName") }
        switch type {
        case "signInViaPopup", "linkViaPopup", "reauthViaPopup":
            return .popup(apiKey: request.apiKey, appName: appName)
        case "signInViaRedirect", "linkViaRedirect", "reauthViaRedirect":
            guard let url = request.redirectURL, !url.isEmpty else { throw .missingParameter("redirectUrl") }
            return .redirect(apiKey: request.apiKey, appName: appName, url: url)
        default: throw .unsupportedAuthType
        }
    }

    private func nativeDestination(
        _ type: String,
        _ request: Request
    ) throws(HandlerError) -> HandlerVisit.Destination {
        let types = ["signInWithRedirect", "signInViaRedirect", "linkViaRedirect", "reauthViaRedirect"]
        if types.contains(type) {
            guard let sessionID = request.sessionID, !sessionID.isEmpty else { throw .missingParameter("sessionId") }
            guard Self.isPlain(sessionID) else { throw .invalidParameter("sessionId") }
        } else if type != HandlerVisit.appCheck {
            throw .unsupportedAuthType
        }
        guard let bundleID = request.bundleID else {
            guard let package = request.packageName, AppRegistration.isIdentifier(package) else {
                throw .invalidParameter("apn")
            }
            return .android(package: package)
        }
        guard request.packageName == nil else { throw .invalidParameter("apn") }
        guard AppRegistration.isIdentifier(bundleID) else { throw .invalidParameter("ibi") }
        return .ios(bundleID: bundleID, scheme: try scheme(of: bundleID, request))
    }

    /// The scheme that Apple SDKs derive.
    private func scheme(of bundleID: String, _ request: Request) throws(HandlerError) -> String {
        if let clientID = request.clientID {
            let scheme = clientID.split(separator: ".", omittingEmptySubsequences: false).reversed()
                .joined(separator: ".")
            guard AppRegistration.isScheme(scheme) else { throw .invalidParameter("clientId") }
            return scheme
        }
        guard let appID = request.appID else {
            guard AppRegistration.isScheme(bundleID) else { throw .invalidParameter("ibi") }
            return bundleID
        }
        let scheme = "app-" + appID.replacing(":", with: "-")
        guard AppRegistration.isScheme(scheme) else { throw .invalidParameter("appId") }
        return scheme
    }

    /// In bytes: the Web SDK generates digits, with `<uid>:::` before them if a signed-in user links or
    /// reauthenticates.
    ///
    /// A uid may be any text of up to 512 bytes.
    private static let longestEventID = 640

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

    private func eventID(of request: Request) throws(HandlerError) -> String? {
        guard let eventID = request.eventID, !eventID.isEmpty else { return nil }
        guard eventID.utf8.count <= Self.longestEventID, !eventID.unicodeScalars.contains(where: Self.isControl) else {
            throw .invalidParameter("eventId")
        }
        return eventID
    }

    private func allows(_ url: String, _ caller: Caller) -> Bool {
        caller.project.settings.authorizesExtension(of: url) || (try? service.continueURL(url, caller)) ?? nil != nil
    }

    /// A text that needs no escaping in links: at most 256 letters, digits, `-`, `_` and `.`.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 256 && text.consists(of: .alphanumerics + "-_.")
    }

    // MARK: The way there

    /// Starts the flow.
    ///
    /// - Parameter callback: the redirect URI.
    /// - Throws: ``HandlerError``, ``AccountsError``; the SDK receives them.
    package func start(
        _ visit: HandlerVisit,
        _ request: Request,
        callback: String,
        _ caller: Caller
    ) async throws -> Started {
        guard let provider = request.providerID, !provider.isEmpty else {
            throw HandlerError.missingParameter("providerId")
        }
        let caller = try caller.entering(request.tenantID.map { TenantID(rawValue: $0) } ?? caller.tenant)
        let browser = BrowserSecret.make(for: caller, service.random)
        var start = CreateAuthURI.Request(providerID: provider)
        start.continueURI = callback
        start.scopes = request.scopes
        start.customParameters = request.customParameters.filter { !AuthorizationOptions.isReserved($0.key) }
        start.purpose = Self.purpose(of: visit.authType)
        start.visit = visit
        start.browser = browser
        start.sessionID =
            switch visit.destination {
            case .popup, .redirect, .signInPage, .console: BrowserSecret.sessionID(of: browser)
            case .ios, .android: request.sessionID
            }
        let started = try await CreateAuthURI(service: service).startFlow(start, caller)
        return Started(authURI: started.authURI, state: started.state, browser: browser)
    }

    private static func purpose(of authType: String) -> CreateAuthURI.Request.Purpose {
        if authType.hasPrefix("link") { return .link }
        return authType.hasPrefix("reauth") ? .reauthenticate : .signIn
    }
}
