import Foundation
import IdentityClient
import IdentityCore
import IdentityTestKit
import Testing

/// Eight processes share one store while every fifth response is lost after the service has acted.
///
/// REFRESHES says how many refreshes: 200 by default, 10,000 for the acceptance.
@Suite struct SharedStoreTests {
    private struct Count {
        var refreshed = 0
        var dropped = 0
    }

    @Test(.timeLimit(.minutes(30)))
    func keepsTheSessionOfEightProcesses() async throws {
        let goal = ProcessInfo.processInfo.environment["REFRESHES"].flatMap { Int($0) } ?? 200
        let program = try IdentityProgram.shared
        try await program.admin(
            "PATCH",
            "/v2/projects/demo-project/config?updateMask=identity.rotateRefreshTokens",
            #"{"identity":{"rotateRefreshTokens":true}}"#
        )
        let count = Protected(Count())
        let (finished, finish) = AsyncStream.makeStream(of: Void.self)
        let proxy = try TestServer { request in
            // One request for each connection, so that the service closes it and the response has an end.
            let request = request.replacing("Connection: keep-alive", with: "Connection: close")
            let response = TestServer.forward(request, to: program.url)
            let isRefresh = response?.starts(with: Data("HTTP/1.1 200".utf8)) ?? false
            return count.withLock {
                if isRefresh { $0.refreshed += 1 }
                if $0.refreshed == goal { finish.yield() }
                guard Int.random(in: 0..<5) > 0 else {
                    $0.dropped += 1
                    // Nothing, or half of it.
                    return Bool.random() ? nil : response.map { $0.prefix($0.count / 2) }
                }
                return response
            }
        }
        let folder = try TemporaryFolder()
        let store = FileSessionStorage(file: folder.url.appendingPathComponent("session"))
        // The record names the service by the URL that the processes use.
        let auth = try await signedIn(through: proxy.url, store: store)
        let uid = try #require(auth.currentUser?.uid)

        let workers = try (0..<8).map { _ in
            try Worker(url: proxy.url, store: folder.url.appendingPathComponent("session"))
        }
        for await _ in finished { break }
        // Killed in the middle of anything.
        let losses = workers.compactMap { $0.stop() }
        #expect(losses.isEmpty)

        let last = try Auth(url: proxy.url, apiKey: "any", storage: store)
        #expect(last.currentUser?.uid == uid)
        let user = try #require(last.currentUser)
        _ = try await persistently { try await user.idToken(forcingRefresh: true) }
        let total = count.withLock { $0 }
        print("refreshes: \(total.refreshed), responses dropped: \(total.dropped)")
    }

    private func signedIn(through url: URL, store: FileSessionStorage) async throws -> Auth {
        let auth = try Auth(url: url, apiKey: "any", storage: store)
        _ = try await persistently { try await auth.signInAnonymously() }
        return auth
    }

    private func persistently<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await body() } catch AuthError.unavailable { continue }
        }
    }

    private struct Worker {
        private let process = Process()
        private let output = Pipe()

        init(url: URL, store: URL) throws {
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("refresh-worker")
            process.arguments = [url.absoluteString, store.path]
            process.standardOutput = output
            try process.run()
        }

        /// Returns what the process said if it ended by itself.
        func stop() -> String? {
            let isRunning = process.isRunning
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            return isRunning && text.isEmpty ? nil : "ended: \(text)"
        }
    }
}

extension Data {
    fileprivate func replacing(_ text: String, with other: String) -> Data {
        guard let range = firstRange(of: Data(text.utf8)) else {
            guard let end = firstRange(of: Data("\r\n".utf8)) else { return self }
            return self[..<end.upperBound] + Data((other + "\r\n").utf8) + self[end.upperBound...]
        }
        return self[..<range.lowerBound] + Data(other.utf8) + self[range.upperBound...]
    }
}
