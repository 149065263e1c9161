package import Foundation

/// A folder that is removed with its owner.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        self.url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
