import Crypto

/// Time-based one-time passwords (RFC 6238) in the format that all authenticator apps support: HMAC-SHA-1, 6 digits, 30
/// seconds.
package struct TOTP: Sendable {
    package static let digits = 6
    /// Seconds.
    package static let period: Int64 = 30
    /// The length of a new secret in bytes: that of the hash (RFC 4226 §4, R6).
    package static let secretLength = 20

    private let secret: SymmetricKey

    package init(secret: [UInt8]) { self.secret = SymmetricKey(data: secret) }

    /// - Parameter seconds: since 1970.
    package static func step(at seconds: Int64) -> Int64 { seconds / period }

    /// The code of a time step (RFC 4226 §5.3).
    package func code(of step: Int64) -> String {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * $0)) }
        let hash = [UInt8](HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: secret))
        let offset = Int(hash[19] & 15)
        let number = hash[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.utf8.count) + text
    }

    /// The step of a code within `adjacent` steps of the current one; nil if it matches none.
    ///
    /// Each code is valid once (RFC 6238 §5.2): steps up to `last` are refused.
    package func step(of code: String, at seconds: Int64, adjacent: Int64, after last: Int64) -> Int64? {
        let now = Self.step(at: seconds)
        var found: Int64?
        for step in now - adjacent...now + adjacent where ConstantTime.equal(self.code(of: step), code) {
            if step > last { found = found ?? step }
        }
        return found
    }

    /// Proof that a code was right, and its step.
    ///
    /// Only the comparison creates one.
    package struct Match: Sendable, Hashable {
        package let step: Int64

        fileprivate init(step: Int64) { self.step = step }
    }

    /// As ``step(of:at:adjacent:after:)``.
    package func match(_ code: String, at seconds: Int64, adjacent: Int64, after last: Int64) -> Match? {
        step(of: code, at: seconds, adjacent: adjacent, after: last).map { Match(step: $0) }
    }
}
