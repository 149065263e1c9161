package import Linking
package import Projects
package import Secrets

/// The token with which a client gets new ID tokens: base64url of `<project number>.<account id>.<session
/// id>.<secret>`.
///
/// It names its session's row, and a token of another project is recognized without a database query. Each token has
/// exactly one spelling. The row stores ``secretHash``.
package struct RefreshToken: Sendable, Hashable {
    package let projectNumber: ProjectNumber
    package let account: AccountID
    package let session: SessionID
    /// 32 bytes in base64url.
    package let secret: Secret
    private let encoded: Secret

    /// The token as the client has it.
    package var text: String { encoded.reveal() }

    /// SHA-256 of ``secret``, 32 bytes: stored in the session's row and compared in constant time.
    package var secretHash: [UInt8] { Self.hash(of: secret) }

    /// What a browser's session stores instead, whose cookie has the form of a token: neither is accepted as the other.
    package var browserHash: [UInt8] { SecureHash.sha256("browser.\(secret.reveal())") }

    private init(_ projectNumber: ProjectNumber, _ account: AccountID, _ session: SessionID, _ secret: String) {
        let plain = "\(projectNumber.rawValue).\(account.rawValue).\(session.rawValue).\(secret)"
        self.projectNumber = projectNumber
        self.account = account
        self.session = session
        self.secret = Secret(secret)
        encoded = Secret(Base64URL.encode(plain.utf8))
    }

    /// The stored hash of a secret.
    package static func hash(of secret: Secret) -> [UInt8] { SecureHash.sha256(secret.reveal()) }

    /// - Parameters:
    ///   - account: 1 to 512 bytes.
    ///   - secret: 32 bytes in base64url: ``RandomSource/handle()``.
    package init(projectNumber: ProjectNumber, account: AccountID, session: SessionID, secret: Secret) {
        precondition(Self.isSecret(secret.reveal()), "no secret of a refresh token")
        self.init(projectNumber, account, session, secret.reveal())
    }

    /// Reads a token; nil for anything but its one spelling.
    package init?(_ text: String) {
        guard text.utf8.count <= 1024, let bytes = Base64URL.decode(text) else { return nil }
        // An account ID may contain any character, so the other parts are cut off from both ends.
        let dot = UInt8(ascii: ".")
        guard let afterNumber = bytes.firstIndex(of: dot), let beforeSecret = bytes.lastIndex(of: dot),
            let beforeSession = bytes[..<beforeSecret].lastIndex(of: dot), afterNumber < beforeSession
        else { return nil }
        guard let digits = String(validating: bytes[..<afterNumber], as: UTF8.self), let number = Int64(digits),
            String(number) == digits,  // "+1" and "01" are numbers too
            let account = String(validating: bytes[(afterNumber + 1)..<beforeSession], as: UTF8.self),
            (1...512).contains(account.utf8.count), !account.utf8.contains(0),
            let sessionText = String(validating: bytes[(beforeSession + 1)..<beforeSecret], as: UTF8.self),
            let session = SessionID(rawValue: sessionText),
            let secret = String(validating: bytes[(beforeSecret + 1)...], as: UTF8.self), Self.isSecret(secret)
        else { return nil }
        self.projectNumber = ProjectNumber(rawValue: number)
        self.account = AccountID(account)
        self.session = session
        self.secret = Secret(secret)
        encoded = Secret(text)
    }

    /// The token that replaces this one when it is used.
    ///
    /// It is the same each time, although only its hash is stored. Its secret is HMAC-SHA256 under the key ring of the
    /// session and this token's secret, so neither the database nor the key ring alone can produce it.
    ///
    /// - Parameter key: the index of the key in the ring.
    package func successor(under ring: KeyRing, key: Int = 0) -> RefreshToken {
        let message = Array("refresh token\0\(session.rawValue)\0\(secret.reveal())".utf8)
        let code = ring.authenticationCode(of: message, key: key)
        return RefreshToken(projectNumber, account, session, Base64URL.encode(code))
    }

    private static func isSecret(_ text: String) -> Bool {
        text.utf8.count == 43 && Base64URL.decode(text) != nil
    }
}
