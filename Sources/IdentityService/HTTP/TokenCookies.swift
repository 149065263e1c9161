import HTTPTypes
import Projects
import Secrets
import Sessions

/// The cookies of an app's host that hold its user's tokens, for one project and one `FirebaseApp` of its page.
///
/// The name of the ID token's cookie is the Web SDK's (`browserCookiePersistence`). The SDK signs out by overwriting that
/// cookie with an empty one that is `Partitioned`, so both cookies are: a browser would keep any other one beside it.
struct TokenCookies: Sendable {
    /// What a page sees in place of the refresh token, and sends to refresh.
    static let placeholder = "REDACTED"
    /// 400 days, the longest that browsers allow.
    ///
    /// An expired ID token stays too, so that the app's server finds it and refreshes it.
    private static let seconds = 34_560_000

    private let idTokenName: String
    private let refreshTokenName: String

    /// - Parameter isSecure: whether the page is on https; on http, browsers take no `__HOST-` cookies from loopback.
    init(app: AppName, project: ProjectID, isSecure: Bool) {
        idTokenName = Self.idTokenName(app, isSecure)
        refreshTokenName = Self.refreshTokenPrefix(isSecure) + "\(project)_\(app.text)"
    }

    /// `[DEFAULT]`, or the name that the page gave its `FirebaseApp`.
    struct AppName: Sendable {
        let text: String

        static let usual = "[DEFAULT]"

        /// Nil for a name that is no part of a cookie's name (RFC 6265 §4.1.1; browsers also take brackets), and for
        /// more than 64 characters.
        init?(_ text: String) {
            let isName = text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: "-._[]".utf8.contains(byte)
                }
            }
            guard isName, (1...64).contains(text.utf8.count) else { return nil }
            self.text = text
        }
    }

    // MARK: Reading

    /// Nil without one, and if there are several.
    func refreshToken(in headers: HTTPFields) -> Secret? {
        let tokens = Cookie.values(named: refreshTokenName, in: headers)
        return tokens.count == 1 && !tokens[0].isEmpty ? Secret(tokens[0]) : nil
    }

    /// Whether the page signed its user out, and its `DELETE` did not arrive.
    func isSignedOut(in headers: HTTPFields) -> Bool { Cookie.values(named: idTokenName, in: headers).contains("") }

    /// The projects of a request's refresh tokens of this app.
    static func projects(of app: AppName, isSecure: Bool, in headers: HTTPFields) -> [ProjectID] {
        let prefix = refreshTokenPrefix(isSecure)
        return Cookie.names(in: headers).compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix("_" + app.text) else { return nil }
            // The ID of a project contains no `_`.
            let id = name.dropFirst(prefix.count).prefix { $0 != "_" }
            return name == "\(prefix)\(id)_\(app.text)" ? ProjectID(rawValue: String(id)) : nil
        }
    }

    // MARK: Writing

    /// In bytes: browsers drop a cookie whose name and value have more than 4,096 together (RFC 6265bis §5.6).
    var longestIDToken: Int { SessionCookie.longest - idTokenName.utf8.count }

    /// Values of `Set-Cookie`; scripts can read the ID token, which they send to other services.
    func holding(idToken: String, refreshToken: String) -> [String] {
        [
            Self.header(idTokenName, idToken, Self.seconds),
            Self.header(refreshTokenName, refreshToken, Self.seconds) + "; HttpOnly",
        ]
    }

    /// Values of `Set-Cookie` that remove both.
    var ended: [String] {
        [Self.header(idTokenName, "", 0), Self.header(refreshTokenName, "", 0) + "; HttpOnly"]
    }

    /// Removes the ID token of an app whose refresh token is not there.
    static func endedIDToken(of app: AppName, isSecure: Bool) -> String { header(idTokenName(app, isSecure), "", 0) }

    /// `Lax`, so that a link to the app from elsewhere shows its user's page.
    private static func header(_ name: String, _ value: String, _ seconds: Int) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); Secure; SameSite=Lax; Partitioned; Priority=High"
    }

    private static func idTokenName(_ app: AppName, _ isSecure: Bool) -> String {
        prefix(isSecure) + "FIREBASE_" + app.text
    }

    private static func refreshTokenPrefix(_ isSecure: Bool) -> String { prefix(isSecure) + "FIREBASEID_" }

    private static func prefix(_ isSecure: Bool) -> String { isSecure ? "__HOST-" : "__dev_" }
}
