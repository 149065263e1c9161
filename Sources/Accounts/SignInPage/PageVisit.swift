import Foundation
import Projects
import Secrets
import Storage

/// The state of a visit to the hosted sign-in page: the app, the browser, and the progress.
///
/// It is sealed into the page's forms, so unfinished visits store nothing.
package struct PageVisit: Codable, Sendable {
    /// The lifetime in seconds.
    static let lifetime: Int64 = 3_600

    package let apiKey: String
    /// Nil for the project itself.
    package let tenant: String?
    package let continueURL: String
    /// From the app, which alone has the verifier (RFC 7636, S256).
    package let codeChallenge: String
    /// BCP 47.
    package let language: String?
    /// The SHA-256 of the browser's cookie, in hexadecimal.
    package let browserHash: String
    /// Seconds since 1970.
    let startedAt: Int64
    /// Whether the app sent the user to manage passkeys.
    package internal(set) var showsPasskeys = false
    /// Whether a first passkey is offered after the sign-in: the user typed a password, and the browser has passkeys.
    package internal(set) var offersPasskey = false
    /// Linked as soon as the user has signed in.
    package internal(set) var conflict: Conflict?
    /// The second factor to prove before the user is signed in.
    package internal(set) var challenge: Challenge?
    /// The session of a user who is not back in the app yet.
    package internal(set) var signedIn: SignedIn?
    /// The email with a code that was last sent from this page.
    package internal(set) var sentCode: SentCode?

    /// Account exists with different credential.
    package struct Conflict: Codable, Sendable {
        package let email: String?
        package let provider: String
        /// Providers that the user may be told; empty if they must not be revealed.
        package let accountProviders: [String]
        let pendingToken: String
    }

    package struct SignedIn: Codable, Sendable {
        private(set) var idToken: String
        private(set) var refreshToken: String
        let isNewUser: Bool

        init(_ tokens: IssuedTokens, isNewUser: Bool) {
            (idToken, refreshToken) = (tokens.idToken, tokens.refreshToken.reveal())
            self.isNewUser = isNewUser
        }

        mutating func renew(_ tokens: IssuedTokens) {
            (idToken, refreshToken) = (tokens.idToken, tokens.refreshToken.reveal())
        }
    }

    package struct SentCode: Codable, Sendable {
        package let email: String
        /// What its code is bound to; see ``SendOOBCode/Result/codeSession``.
        let session: String
    }

    /// The request for a second factor.
    package struct Challenge: Codable, Sendable {
        package let pendingCredential: String
        package let factors: [Factor]
        /// Whether a passkey of the account is one.
        package let offersPasskey: Bool
        /// The phone that a code was sent to.
        package internal(set) var sent: Sent?

        package struct Factor: Codable, Sendable {
            package let id: String
            /// A phone's number with all but four digits hidden; nil for an app.
            package let number: String?
        }

        package struct Sent: Codable, Sendable {
            package let factor: String
            let sessionInfo: String
        }
    }
}

extension PageVisit {
    private static let place = "sign_in_page"

    func sealed(by keyRing: KeyRing) throws -> String {
        Base64URL.encode(try keyRing.seal([UInt8](JSONEncoder().encode(self)), for: Self.place))
    }

    /// - Parameter text: from ``sealed(by:)``; nil for anything else.
    init?(_ text: String, openedBy keyRing: KeyRing) {
        guard let sealed = Base64URL.decode(text), let bytes = try? keyRing.open(sealed, for: Self.place),
            let visit = try? JSONDecoder().decode(PageVisit.self, from: Data(bytes))
        else { return nil }
        self = visit
    }
}
