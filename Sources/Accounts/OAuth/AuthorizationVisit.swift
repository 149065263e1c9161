import Foundation
import OAuth
import Projects
import Secrets

/// The state of an authorization request between the pages, sealed into their addresses and forms, so that unfinished
/// ones store nothing.
struct AuthorizationVisit: Codable, Sendable {
    /// In seconds.
    static let lifetime: Int64 = 3_600

    /// Nil if the user came by themself, to see their grants; once consent was asked for, what its page showed and no more:
    /// the client may get scopes back that it had given up for that moment (threats.md, T-F39).
    var request: AuthorizationRequest?
    /// For the code of the sign-in page.
    let verifier: Secret
    /// The SHA-256 of the browser's secret, in hexadecimal.
    let browserHash: String
    /// Seconds since 1970.
    let startedAt: Int64
    /// The device that waits for the user's decision.
    var device: Device?
    /// The user whose consent was asked for.
    var shown: Shown?

    struct Device: Codable, Sendable {
        let codeHash: [UInt8]
        /// As the device shows it.
        let userCode: String
    }

    struct Shown: Codable, Sendable {
        let account: String
        /// The session of a sign-in for this request; nil if the user was signed in before.
        let signedIn: String?
    }

    /// Another project's visit cannot be opened: its own settings have allowed what it asks for.
    private static func place(_ project: ProjectID) -> String { "authorization_visit/\(project)" }

    func sealed(by keyRing: KeyRing, in project: ProjectID) throws -> String {
        Base64URL.encode(try keyRing.seal([UInt8](JSONEncoder().encode(self)), for: Self.place(project)))
    }

    /// - Parameter text: from ``sealed(by:in:)``; nil for anything else.
    init?(_ text: String, openedBy keyRing: KeyRing, in project: ProjectID) {
        guard let sealed = Base64URL.decode(text), let bytes = try? keyRing.open(sealed, for: Self.place(project)),
            let visit = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = visit
    }

    init(request: AuthorizationRequest?, verifier: Secret, browserHash: String, startedAt: Int64) {
        self.request = request
        self.verifier = verifier
        self.browserHash = browserHash
        self.startedAt = startedAt
    }
}
