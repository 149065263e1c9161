import Foundation
package import Secrets

/// A browser in which an admin has signed in within the last thirty days.
///
/// Its attempts have a limit of their own, so a stranger's attempts cannot keep the admin out (OWASP: "device cookies").
/// It proves nothing else.
struct KnownBrowser: Codable, Sendable {
    /// The lifetime in seconds.
    static let lifetime: Int64 = 30 * 86_400
    private static let place = "console browser"

    var id: String
    /// The admin's, canonical.
    var email: String
    /// Seconds since 1970.
    var since: Int64

    init(id: String, email: String, since: Int64) {
        (self.id, self.email, self.since) = (id, email, since)
    }

    /// Nil if the text is not ours, of another admin, or too old.
    init?(_ text: String, of email: String, at seconds: Int64, openedBy keyRing: KeyRing) {
        guard text.utf8.count < 2_048, let bytes = Base64URL.decode(text),
            let opened = try? keyRing.open(bytes, for: Self.place),
            let browser = try? JSONDecoder().decode(Self.self, from: Data(opened)),
            browser.email == email, seconds < browser.since + Self.lifetime
        else { return nil }
        self = browser
    }

    func sealed(by keyRing: KeyRing) throws -> String {
        Base64URL.encode(try keyRing.seal([UInt8](JSONEncoder().encode(self)), for: Self.place))
    }
}

/// What an admin's browser keeps after a sign-in to the console.
package struct ConsoleEntrance: Sendable {
    /// Of the session.
    package var handle: Secret
    /// Lets the next sign-in recognize the browser.
    package var browser: String

    /// Seconds for which the browser is recognized.
    package static let browserLifetime = Int(KnownBrowser.lifetime)

    init(_ handle: String, _ email: String, _ service: AccountsService) throws {
        self.handle = Secret(handle)
        browser = try KnownBrowser(id: service.random.handle(), email: email, since: service.seconds)
            .sealed(by: service.keyRing)
    }
}
