import Foundation
import OAuth
import Projects
import Secrets
import Storage

/// What an application exchanges for its tokens.
///
/// It carries what the user granted, sealed for the client and the challenge, so that nothing is stored until it is
/// redeemed, and only the verifier's owner has a use for it (RFC 7636). The session that it names begins once.
struct AuthorizationCode: Codable {
    /// In seconds (OAuth 2.1 §4.1.2 recommends a short one).
    static let lifetime: Int64 = 60

    let account: String
    /// The browser's session.
    let browser: String
    /// The application's session.
    let session: String
    let grant: ApplicationGrant
    /// Seconds since 1970.
    let expiresAt: Int64
    /// The account's when its user agreed (``Storage/NewApplicationSession/revokedVersion``).
    let revokedVersion: Int64?

    private static func place(_ client: String, _ challenge: String, _ project: ProjectID) -> String {
        "authorization_code/\(project)/\(challenge)/\(client)"
    }

    func sealed(for client: String, challenge: String, by keyRing: KeyRing, in project: ProjectID) throws -> String {
        let place = Self.place(client, challenge, project)
        return Base64URL.encode(try keyRing.seal([UInt8](JSONEncoder().encode(self)), for: place))
    }

    /// - Parameter text: from ``sealed(for:challenge:by:in:)``; nil for anything else.
    init?(_ text: Secret, of client: String, challenge: String, openedBy keyRing: KeyRing, in project: ProjectID) {
        guard let sealed = Base64URL.decode(text.reveal()),
            let bytes = try? keyRing.open(sealed, for: Self.place(client, challenge, project)),
            let code = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        self = code
    }

    init(
        account: String,
        browser: String,
        session: String,
        grant: ApplicationGrant,
        expiresAt: Int64,
        revokedVersion: Int64
    ) {
        self.revokedVersion = revokedVersion
        self.account = account
        self.browser = browser
        self.session = session
        self.grant = grant
        self.expiresAt = expiresAt
    }
}
