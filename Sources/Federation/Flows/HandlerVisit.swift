import StrictJSON

/// The purpose of an SDK's request to the handler page and the destination of the result, stored with the flow while
/// the user is at the provider.
package struct HandlerVisit: Sendable, Hashable {
    /// An app proves that a person uses it before it asks for an SMS; no provider is visited.
    package static let appCheck = "verifyApp"

    /// The type of the result, in the SDK's own term, such as `signInViaPopup`.
    package var authType: String
    /// Returned unchanged.
    package var eventID: String?
    package var destination: Destination
    /// The page's language, BCP 47; nil for the browser's.
    package var language: String?

    package enum Destination: Sendable, Hashable {
        /// The iframe that the SDK opened, with this key and app name, in the page that opened the window.
        case popup(apiKey: String, appName: String)
        /// The same iframe, in the page that the browser is sent to.
        case redirect(apiKey: String, appName: String, url: String)
        /// A link that starts with `scheme://firebaseauth/link`.
        case ios(bundleID: String, scheme: String)
        case android(package: String)
        /// The hosted sign-in page; the value is its sealed visit.
        case signInPage(String)
        /// The console, where a provider test continues with a form that has this token.
        case console(path: String, token: String)
    }

    package init(authType: String, eventID: String?, destination: Destination, language: String? = nil) {
        self.authType = authType
        self.eventID = eventID
        self.destination = destination
        self.language = language
    }
}

extension HandlerVisit {
    /// Writes the members into an open object.
    func write(to json: inout JSONText) {
        json.member("authType", authType)
        if let eventID { json.member("eventID", eventID) }
        if let language { json.member("language", language) }
        switch destination {
        case .popup(let apiKey, let appName):
            json.member("apiKey", apiKey)
            json.member("appName", appName)
        case .redirect(let apiKey, let appName, let url):
            json.member("apiKey", apiKey)
            json.member("appName", appName)
            json.member("url", url)
        case .ios(let bundleID, let scheme):
            json.member("bundleID", bundleID)
            json.member("scheme", scheme)
        case .android(let package): json.member("package", package)
        case .signInPage(let visit): json.member("signInPage", visit)
        case .console(let path, let token):
            json.member("consolePath", path)
            json.member("consoleToken", token)
        }
    }

    /// Reads a value of ``write(to:)``; nil for anything else.
    init?(_ object: JSONObject) {
        guard let authType = object["authType"]?.string else { return nil }
        let destination: Destination
        if let apiKey = object["apiKey"]?.string, let appName = object["appName"]?.string {
            destination =
                object["url"]?.string.map { .redirect(apiKey: apiKey, appName: appName, url: $0) }
                ?? .popup(apiKey: apiKey, appName: appName)
        } else if let bundleID = object["bundleID"]?.string, let scheme = object["scheme"]?.string {
            destination = .ios(bundleID: bundleID, scheme: scheme)
        } else if let package = object["package"]?.string {
            destination = .android(package: package)
        } else if let visit = object["signInPage"]?.string {
            destination = .signInPage(visit)
        } else if let path = object["consolePath"]?.string, let token = object["consoleToken"]?.string {
            destination = .console(path: path, token: token)
        } else {
            return nil
        }
        self.init(
            authType: authType,
            eventID: object["eventID"]?.string,
            destination: destination,
            language: object["language"]?.string
        )
    }
}
