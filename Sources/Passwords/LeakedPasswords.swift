import Crypto
package import Secrets

/// Knows the passwords that data leaks made public.
package protocol LeakedPasswords: Sendable {
    /// - Parameter share: whose share of a service's requests it uses.
    /// - Throws: if it cannot tell at the moment.
    func contains(_ password: Secret, share: String) async throws -> Bool
}

/// The SHA-1 of a password's UTF-8 text, by which published lists name leaked passwords (Have I Been Pwned).
///
/// SHA-1 protects nothing here: the lists are public, and the hash never leaves the process as a whole.
package struct LeakedPasswordHash: Sendable, Hashable {
    /// 20 bytes.
    package let bytes: [UInt8]

    package init(of password: Secret) { bytes = Array(Insecure.SHA1.hash(data: Array(password.reveal().utf8))) }
}
