import Foundation
import TestKit
import Testing

/// Pages that a real browser visits, by `pages_in_chromium.py`; nothing may be wrong with any of them.
enum PagesInChromium {
    struct Visit: Encodable {
        var name: String
        var url: String
        /// All four when empty.
        var variants: [String] = []
        var steps: [Step] = []
        /// Where our pages begin; nil where ``url`` is one.
        var own: String?
        /// Beginnings of the URLs of other hosts that may be asked as well, and are not looked at.
        var others: [String] = []
    }

    /// See pages_in_chromium.py.
    struct Step: Encodable {
        var heading: String?
        var fill: [String: String]?
        var press: String?
        /// The same where the page stays.
        var toggle: String?
        var twice: String?
        var back: Bool?
        var leads: String?
        /// Goes to a URL.
        var goto: String?
        /// The same in another tab, which stays behind.
        var tab: String?
        /// Where the browser must come to.
        var arrives: String?
        /// What stands on the page.
        var says: String?
        /// Asks a URL outside of the browser.
        var call: String?
        /// Takes all cookies away.
        var forget: Bool?
        /// JSON by somebody else: `path` and `body`.
        var post: [String: String]?
        /// A URL whose page posts by itself, once its fragment is gone.
        var posts: String?
        /// What comes by itself where scripts run, and with a reload where not.
        var sees: String?
    }

    private struct Job: Encodable {
        var visits: [Visit]
        var screenshots: String?
    }

    static func look(at visits: [Visit]) async throws {
        let screenshots = ProcessInfo.processInfo.environment["PAGE_SCREENSHOTS"]
        if let screenshots {
            try FileManager.default.createDirectory(atPath: screenshots, withIntermediateDirectories: true)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try JSONEncoder().encode(Job(visits: visits, screenshots: screenshots)).write(to: file)
        let script = IdentityProgram.repository.appending(path: "Tests/ServiceTests/Pages/pages_in_chromium.py").path
        let python = IdentityProgram.repository.appending(path: ".venv/bin/python").path
        let result = try await Program.run(python, [script, file.path])
        #expect(result.output.trimmingCharacters(in: .newlines) == "[]", "\(result)")
        #expect(result.status == 0)
    }
}
