import Crypto
import CryptoExtras
import Foundation
import Synchronization

enum Hashing {
    /// Firebase's modified scrypt with its standard parameters, on as many threads as there are cores.
    ///
    /// - Returns: how many hashes there were.
    static func run(until end: Date) -> Int {
        let signerKey = SymmetricKey(size: .init(bitCount: 512)).withUnsafeBytes { Data($0) }
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        let hashes = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: max(1, ProcessInfo.processInfo.activeProcessorCount)) { _ in
            while Date() < end {
                guard (try? hash(Data("correct horse battery".utf8), salt, signerKey)) != nil else { return }
                hashes.add(1, ordering: .relaxed)
            }
        }
        return hashes.load(ordering: .relaxed)
    }

    private static func hash(_ password: Data, _ salt: Data, _ signerKey: Data) throws -> Data {
        let key = try KDF.Scrypt.deriveKey(
            from: password,
            salt: salt,
            outputByteCount: 32,
            rounds: 1 << 14,
            blockSize: 8,
            parallelism: 1
        )
        return try AES._CTR.encrypt(signerKey, using: key, nonce: .init(nonceBytes: [UInt8](repeating: 0, count: 16)))
    }
}
