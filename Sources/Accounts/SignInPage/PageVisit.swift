import Foundation
import Projects
import Secrets
import Storage

/// Somebody's visit to the sign-in page: for which app, in which browser, and how far it has come.
///
/// It travels sealed with the page's forms, so that nothing is stored of visits that nobody finishes.
package struct PageVisit: Codable, Sendable {
    /// Seconds for which it is good.
    static let lifetime: Int64 = 3_600

    package let apiKey: String
    /// Nil for the project itself.
    package let tenant: String?
    package let continueURL: String
    /// Of the app, which alone knows the verifier (RFC 7636, S256).
    package let codeChallenge: String
    /// BCP 47.
    package let language: String?
    /// The SHA-256 of what the browser keeps, in hexadecimal.
    package let browserHash: String
    /// Seconds since 1970.
    let startedAt: Int64
    /// What is linked as soon as somebody has signed in.
    package internal(set) var conflict: Conflict?
    /// What is asked for before somebody is signed in.
    package internal(set) var challenge: Challenge?

    /// Account exists with different credential.
    package struct Conflict: Codable, Sendable {
        package let email: String?
        package let provider: String
        /// Those of which the person may learn; empty when it is to be guessed.
        package let accountProviders: [String]
        let pendingToken: String
    }

    /// The demand for a second factor.
    package struct Challenge: Codable, Sendable {
        let pendingCredential: String
        package let factors: [Factor]
        /// The phone that a code was sent to.
        package internal(set) var sent: Sent?

        package struct Factor: Codable, Sendable {
            package let id: String
            /// Of a phone, all but four digits hidden; nil for an app.
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

    /// - Parameter text: what ``sealed(by:)`` made; nil for anything else.
    init?(_ text: String, openedBy keyRing: KeyRing) {
        guard let sealed = Base64URL.decode(text), let bytes = try? keyRing.open(sealed, for: Self.place),
            let visit = try? JSONDecoder().decode(PageVisit.self, from: Data(bytes))
        else { return nil }
        self = visit
    }
}
