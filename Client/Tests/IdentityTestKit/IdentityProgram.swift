package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `identity dev` of the program that IDENTITY_PROGRAM names, started once for all tests of this process.
package struct IdentityProgram: Sendable {
    package static let projectID = "demo-project"

    package let url: URL

    /// - Throws: if the variable is missing: a test without the service proves nothing.
    package static var shared: IdentityProgram { get throws { try started.get() } }

    private static let started = Result { try IdentityProgram() }

    private init() throws {
        guard let path = ProcessInfo.processInfo.environment["IDENTITY_PROGRAM"] else {
            throw Missing(what: "IDENTITY_PROGRAM must name the program; `make client` sets it")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["dev", "--port", "0", "--ephemeral", "--demo-providers", "all"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let pid = process.processIdentifier
        runningProgram = pid
        atexit {
            kill(runningProgram, SIGTERM)
            waitpid(runningProgram, nil, 0)
        }
        var text = ""
        while !text.contains(/ready http[^\n]*\n/) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Missing(what: "the program ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        // What it prints later must not fill the pipe.
        output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
        guard let url = text.firstMatch(of: /ready (http[^\s]*)/).flatMap({ URL(string: String($0.1)) }) else {
            throw Missing(what: "no URL in \(text)")
        }
        self.url = url
    }

    /// Calls an admin operation, or any other one, with the credential of `identity dev`.
    @discardableResult
    package func admin(_ method: String, _ path: String, _ body: String? = nil) async throws -> [String: Any] {
        guard let target = URL(string: url.absoluteString + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: target)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        request.setValue("Bearer owner", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw Missing(what: "\(method) \(path): \(String(decoding: data, as: UTF8.self))")
        }
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    package struct Missing: Error { package var what: String }
}

/// For the handler at the end of the process, which cannot capture; set once, before the handler is registered.
nonisolated(unsafe) private var runningProgram: Int32 = 0
