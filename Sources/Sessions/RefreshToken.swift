package import Domain
package import Projects
package import Secrets

/// The token with which a client gets new ID tokens: base64url of `<project number>.<account id>.<session
/// id>.<secret>`, whose last part is base64url of the secret, the generation and its proof.
///
/// In a tenant, `/<tenant>` follows the number.
///
/// It names its session's row, and a token of another project is recognized without a database query. Each token has
/// exactly one spelling, but for the generation and its proof, which only say what a secret that is not the current one was.
/// The row stores ``secretHash``. The proof says that the service made this token, also of a session
/// that the database does not know, or not yet, because it was restored; nothing else depends on it. Releases before 1.0
/// made tokens without it.
package struct RefreshToken: Sendable, Hashable {
    package let projectNumber: ProjectNumber
    package let tenant: TenantID
    package let account: AccountID
    package let session: SessionID
    /// 32 bytes in base64url.
    package let secret: Secret
    /// How often the session's token had been replaced when this one was made; nil for a token without proof.
    package let generation: Int?
    private let proof: [UInt8]
    private let encoded: Secret

    /// The token as the client has it.
    package var text: String { encoded.reveal() }

    /// SHA-256 of ``secret``, 32 bytes: stored in the session's row and compared in constant time.
    package var secretHash: [UInt8] { Self.hash(of: secret) }

    /// What a browser's session stores instead, whose cookie has the form of a token: neither is accepted as the other.
    package var browserHash: [UInt8] { SecureHash.sha256("browser.\(secret.reveal())") }

    /// The stored hash of a secret.
    package static func hash(of secret: Secret) -> [UInt8] { SecureHash.sha256(secret.reveal()) }

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - account: 1 to 512 bytes.
    ///   - secret: 32 bytes in base64url: ``RandomSource/handle()``.
    ///   - generation: of the session's row, with this token.
    package init(
        projectNumber: ProjectNumber,
        tenant: TenantID,
        account: AccountID,
        session: SessionID,
        secret: Secret,
        generation: Int,
        under ring: KeyRing
    ) {
        precondition(Self.isSecret(secret.reveal()), "no secret of a refresh token")
        let counter = UInt32(clamping: generation)
        let name = Self.name(projectNumber, tenant, account, session)
        let proof = Self.proof(name, secret, counter, ring, key: 0)
        let last = (Base64URL.decode(secret.reveal()) ?? []) + Self.bytes(counter) + proof
        self.projectNumber = projectNumber
        self.tenant = tenant
        self.account = account
        self.session = session
        self.secret = secret
        self.generation = Int(counter)
        self.proof = proof
        encoded = Secret(Base64URL.encode("\(name).\(Base64URL.encode(last))".utf8))
    }

    /// Reads a token; nil for anything but its one spelling.
    package init?(_ text: String) {
        guard text.utf8.count <= 1024, let bytes = Base64URL.decode(text) else { return nil }
        // An account ID may contain any character, so the other parts are cut off from both ends.
        let dot = UInt8(ascii: ".")
        guard let afterNumber = bytes.firstIndex(of: dot), let beforeSecret = bytes.lastIndex(of: dot),
            let beforeSession = bytes[..<beforeSecret].lastIndex(of: dot), afterNumber < beforeSession
        else { return nil }
        let slash = UInt8(ascii: "/")
        let scope = bytes[..<afterNumber].split(separator: slash, maxSplits: 1, omittingEmptySubsequences: false)
        guard let digits = String(validating: scope[0], as: UTF8.self), let number = Int64(digits),
            String(number) == digits,  // "+1" and "01" are numbers too
            let tenant = scope.count == 1 ? "" : String(validating: scope[1], as: UTF8.self),
            scope.count == 1 || !tenant.isEmpty, !tenant.utf8.contains(0),
            let account = String(validating: bytes[(afterNumber + 1)..<beforeSession], as: UTF8.self),
            (1...512).contains(account.utf8.count), !account.utf8.contains(0),
            let sessionText = String(validating: bytes[(beforeSession + 1)..<beforeSecret], as: UTF8.self),
            let session = SessionID(rawValue: sessionText),
            let lastText = String(validating: bytes[(beforeSecret + 1)...], as: UTF8.self),
            let last = Base64URL.decode(lastText), last.count == 32 || last.count == 32 + 4 + Self.proofLength
        else { return nil }
        self.projectNumber = ProjectNumber(rawValue: number)
        self.tenant = TenantID(rawValue: tenant)
        self.account = AccountID(account)
        self.session = session
        secret = Secret(Base64URL.encode(last.prefix(32)))
        generation = last.count == 32 ? nil : last[32..<36].reduce(0) { $0 << 8 | Int($1) }
        proof = Array(last.dropFirst(36))
        encoded = Secret(text)
    }

    /// Whether the service made this token, under any key of the ring: never, for one without proof.
    package func isGenuine(under ring: KeyRing) -> Bool {
        guard let generation else { return false }
        let name = Self.name(projectNumber, tenant, account, session)
        return (0..<ring.count).contains { key in
            ConstantTime.equal(proof, Self.proof(name, secret, UInt32(clamping: generation), ring, key: key))
        }
    }

    private static let proofLength = 16

    private static func name(
        _ project: ProjectNumber,
        _ tenant: TenantID,
        _ account: AccountID,
        _ session: SessionID
    ) -> String {
        let scope = tenant == .none ? "\(project.rawValue)" : "\(project.rawValue)/\(tenant.rawValue)"
        return "\(scope).\(account.rawValue).\(session.rawValue)"
    }

    private static func proof(
        _ name: String,
        _ secret: Secret,
        _ generation: UInt32,
        _ ring: KeyRing,
        key: Int
    ) -> [UInt8] {
        let message = "refresh token's generation\0\(name)\0\(secret.reveal())\0\(generation)"
        return Array(ring.authenticationCode(of: Array(message.utf8), key: key).prefix(proofLength))
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// The secret of the token that replaces this one when it is used.
    ///
    /// It is the same each time, although only its hash is stored. It is HMAC-SHA256 under the key ring of the session and
    /// this token's secret, so neither the database nor the key ring alone can produce it.
    ///
    /// - Parameter key: the index of the key in the ring.
    package func nextSecret(under ring: KeyRing, key: Int = 0) -> Secret {
        Self.secret(after: secret, of: session, under: ring, key: key)
    }

    /// The secret of the token that replaces the one with `secret`.
    package static func secret(after secret: Secret, of session: SessionID, under ring: KeyRing, key: Int) -> Secret {
        let message = Array("refresh token\0\(session.rawValue)\0\(secret.reveal())".utf8)
        return Secret(Base64URL.encode(ring.authenticationCode(of: message, key: key)))
    }

    /// The token of another generation of the session.
    package func with(_ secret: Secret, generation: Int, under ring: KeyRing) -> RefreshToken {
        RefreshToken(
            projectNumber: projectNumber,
            tenant: tenant,
            account: account,
            session: session,
            secret: secret,
            generation: generation,
            under: ring
        )
    }

    private static func isSecret(_ text: String) -> Bool {
        text.utf8.count == 43 && Base64URL.decode(text) != nil
    }
}
