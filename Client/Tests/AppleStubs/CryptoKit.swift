// What SignInWithApple uses of Apple's CryptoKit, as far as types go.
import Foundation

public enum SHA256 {
    public static func hash(data: some DataProtocol) -> [UInt8] { [] }
}

public struct SymmetricKeySize: Sendable { public static let bits256 = SymmetricKeySize() }

public struct SymmetricKey {
    public init(size: SymmetricKeySize) {}
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try [UInt8]().withUnsafeBytes(body)
    }
}
