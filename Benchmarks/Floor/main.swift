import Foundation
import Passwords
import Secrets
import Synchronization

// What nothing built on it can go below: `bench-floor scrypt SECONDS` hashes passwords on as many threads as there are
// cores and prints the microseconds of CPU that one hash took.

guard CommandLine.arguments.count == 3, CommandLine.arguments[1] == "scrypt",
    let seconds = Double(CommandLine.arguments[2])
else {
    FileHandle.standardError.write(Data("usage: bench-floor scrypt SECONDS\n".utf8))
    exit(64)
}
let signerKey = RandomSource.system.bytes(64)
let salt = RandomSource.system.bytes(16)
let end = Date().addingTimeInterval(seconds)
let hashes = Atomic(0)
DispatchQueue.concurrentPerform(iterations: max(1, ProcessInfo.processInfo.activeProcessorCount)) { _ in
    while Date() < end {
        let password = Array("correct horse battery".utf8)
        _ = try? FirebaseScrypt.hash(password, salt: salt, parameters: .standard, signerKey: signerKey)
        hashes.add(1, ordering: .relaxed)
    }
}
var usage = rusage()
unsafe getrusage(.init(RUSAGE_SELF.rawValue), &usage)
let spent =
    Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
print(spent / Double(max(1, hashes.load(ordering: .relaxed))))
