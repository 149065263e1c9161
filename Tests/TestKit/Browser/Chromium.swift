import Foundation

/// A real browser without a window.
package enum Chromium {
    package struct Options: Sendable {
        package var width = 1280
        package var height = 800
        /// Of the profile: what `chrome://settings` would change.
        package var preferences: JSON = [:]

        package init() {}
    }

    package struct Missing: Error, CustomStringConvertible {
        package let description = "there is no Chromium: scripts/install-dependencies test installs it"
    }

    /// Debian's and Ubuntu's names, and Google's.
    private static var path: String? {
        ["chromium", "chromium-browser", "google-chrome"].map { "/usr/bin/\($0)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Opens a page, whose scripts then do the rest; the browser has ended after `body`.
    ///
    /// Nothing but this computer is reached.
    package static func open<R>(
        _ url: String,
        _ options: Options = Options(),
        _ body: () async throws -> R
    ) async throws -> R {
        guard let path else { throw Missing() }
        Started.count(.browser)
        let profile = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        let defaults = profile.appending(path: "Default")
        try FileManager.default.createDirectory(at: defaults, withIntermediateDirectories: true)
        try Data(options.preferences.text.utf8).write(to: defaults.appending(path: "Preferences"))
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-popup-blocking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            "--window-size=\(options.width),\(options.height)", "--user-data-dir=\(profile.path)", url,
        ]
        return try await Program.with(path, arguments) { _ in try await body() }
    }
}
