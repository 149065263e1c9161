import Foundation

/// Runs work with a folder that does not exist yet, directly under /tmp, and removes it afterwards.
package func withTemporaryFolder<R>(_ body: (String) async throws -> R) async throws -> R {
    let folder = "/tmp/identity-test-\(UInt64.random(in: 0...UInt64(Int64.max)))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
