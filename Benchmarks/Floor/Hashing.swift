import Foundation
import Passwords
import Secrets
import Synchronization

enum Hashing {
    /// - Returns: how many hashes there were.
    static func run(until end: Date) -> Int {
        let signerKey = RandomSource.system.bytes(64)
        let salt = RandomSource.system.bytes(16)
        let hashes = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: max(1, ProcessInfo.processInfo.activeProcessorCount)) { _ in
            while Date() < end {
                let password = Array("correct horse battery".utf8)
                _ = try? FirebaseScrypt.hash(password, salt: salt, parameters: .standard, signerKey: signerKey)
                hashes.add(1, ordering: .relaxed)
            }
        }
        return hashes.load(ordering: .relaxed)
    }
}
