import Secrets
import Testing
import Text

/// A second spelling of a token that is signed with ES256.
package enum ECDSATwin {
    /// The same token with the other valid signature, which anybody can compute: (r, n - s) for (r, s).
    package static func of(_ token: String) throws -> String {
        let parts = token.split(separator: ".")
        let signature = try #require(Base64URL.decode(parts[2]))
        let order = try #require(
            [UInt8](hexadecimal: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551".utf8)
        )
        var difference = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let value = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = value < 0 ? 1 : 0
            difference[index] = UInt8(value & 0xff)
        }
        return "\(parts[0]).\(parts[1])." + Base64URL.encode(Array(signature[..<32]) + difference)
    }
}
