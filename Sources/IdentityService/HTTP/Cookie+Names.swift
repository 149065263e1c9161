import Accounts
import HTTPTypes
package import Secrets
import Storage

/// All cookies of the service, each with a new value for its purpose (threats.md, T-D9).
extension Cookie {
    // MARK: The handler page

    /// Lets the handler page recognize a flow's browser; one for each flow, because several windows may be at
    /// providers.
    static func flow(_ state: String, _ value: String, seconds: Int, _ isSecure: Bool) -> Cookie {
        Cookie(name: flowName(state), value: value, seconds: seconds, isSecure: isSecure)
    }

    /// Removes the oldest cookies of flows, so that seven are left beside a new one.
    ///
    /// Browsers send older cookies first (RFC 6265 §5.4).
    static func leftFlows(isSecure: Bool, in headers: HTTPFields) -> [Cookie] {
        names(flowPrefix, isSecure: isSecure, in: headers).dropLast(7)
            .map { Cookie(name: $0, value: "", seconds: 0, isSecure: isSecure) }
    }

    static func flowValues(_ state: String, isSecure: Bool, in headers: HTTPFields) -> [String] {
        values(flowName(state), isSecure: isSecure, in: headers)
    }

    private static func flowName(_ state: String) -> String {
        flowPrefix + String(SecureHash.sha256Hex(state).prefix(16))
    }

    private static let flowPrefix = "identity-flow-"

    private static let redirectResultName = "identity-redirect"

    /// Lets the SDK's frame take the result of a redirect; nil when it is taken.
    static func redirectResult(_ secret: Secret?, isSecure: Bool) -> Cookie {
        var cookie = Cookie(
            name: redirectResultName,
            value: secret?.reveal() ?? "",
            seconds: secret == nil ? 0 : Int(RedirectResult.lifetime),
            isSecure: isSecure
        )
        cookie.returnsFromOtherSites = false
        return cookie
    }

    static func redirectResult(isSecure: Bool, in headers: HTTPFields) -> Secret? {
        values(redirectResultName, isSecure: isSecure, in: headers).first.map { Secret($0) }
    }

    // MARK: The sign-in page

    private static let signInPagePrefix = "identity-page-"

    /// Lets the sign-in page recognize a visit's browser.
    static func signInPage(_ visit: PageVisit, _ value: String, isSecure: Bool) -> Cookie {
        var cookie = Cookie(name: signInPageName(visit), value: value, seconds: 3_600, isSecure: isSecure)
        cookie.returnsFromOtherSites = false
        return cookie
    }

    static func signInPages(_ visit: PageVisit, isSecure: Bool, in headers: HTTPFields) -> [String] {
        values(signInPageName(visit), isSecure: isSecure, in: headers)
    }

    /// Removes cookies of unfinished visits before there are too many.
    static func leftSignInPages(isSecure: Bool, in headers: HTTPFields) -> [Cookie] {
        let left = names(signInPagePrefix, isSecure: isSecure, in: headers)
        guard left.count > 8 else { return [] }
        return left.map {
            Cookie(name: $0, value: "", seconds: 0, isSecure: isSecure, returnsFromOtherSites: false)
        }
    }

    /// The names of a request's cookies that consist of the prefix and hexadecimal digits, in order.
    private static func names(_ prefix: String, isSecure: Bool, in headers: HTTPFields) -> [String] {
        let fullPrefix = fullName(prefix, isSecure: isSecure)
        return names(in: headers)
            .filter { $0.hasPrefix(fullPrefix) && $0.dropFirst(fullPrefix.count).allSatisfy(\.isHexDigit) }
            .map { prefix + $0.dropFirst(fullPrefix.count) }
    }

    private static func signInPageName(_ visit: PageVisit) -> String { signInPagePrefix + visit.browserHash.prefix(16) }

    // MARK: The console

    private static let consoleName = "console"

    /// The session of an admin of the console; nil ends it in the browser.
    package static func console(_ handle: Secret?, isSecure: Bool) -> Cookie {
        var cookie = Cookie(
            name: consoleName,
            value: handle?.reveal() ?? "",
            seconds: handle == nil ? 0 : Int(ConsoleStore.lifetime),
            isSecure: isSecure
        )
        cookie.isStrict = true
        return cookie
    }

    /// The cookies of a sign-in.
    static func console(_ entrance: ConsoleEntrance, isSecure: Bool) -> [Cookie] {
        var browser = Cookie(
            name: consoleBrowserName,
            value: entrance.browser,
            seconds: ConsoleEntrance.browserLifetime,
            isSecure: isSecure
        )
        browser.isStrict = true
        return [console(entrance.handle, isSecure: isSecure), browser]
    }

    private static let consoleBrowserName = "console-browser"

    static func consoleBrowser(isSecure: Bool, in headers: HTTPFields) -> String? {
        values(consoleBrowserName, isSecure: isSecure, in: headers).first
    }

    /// Nil without one, and if there are several: then another site may have set one of them.
    static func consoleHandle(isSecure: Bool, in headers: HTTPFields) -> Secret? {
        let values = values(consoleName, isSecure: isSecure, in: headers)
        return values.count == 1 ? Secret(values[0]) : nil
    }
}
