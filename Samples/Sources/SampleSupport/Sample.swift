import Foundation
import IdentityClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A run of a sample's command: its arguments, and what it expects.
///
/// Only for the commands, which are also tests. An app needs none of it.
public struct Sample: Sendable {
    /// `--url`, by default that of `identity dev`.
    public let url: URL
    /// `--unattended`: the browser is ``DemoUser``.
    let isUnattended: Bool
    /// An email that no account has yet.
    public let email = "ada-\(UUID().uuidString.prefix(8).lowercased())@example.com"

    /// Runs a sample, and exits with 1 if an expectation fails.
    public static func run(_ body: @Sendable (Sample) async throws -> Void) async {
        do {
            try await body(Sample(CommandLine.arguments.dropFirst()))
        } catch {
            print("FAILED  \(error)")
            exit(1)
        }
    }

    private init(_ arguments: some Collection<String>) throws {
        var url = "http://127.0.0.1:9099"
        var isUnattended = false
        var rest = Array(arguments)
        while !rest.isEmpty {
            switch rest.removeFirst() {
            case "--unattended": isUnattended = true
            case "--url" where !rest.isEmpty: url = rest.removeFirst()
            case let other: throw Failure("usage: [--url URL] [--unattended], not \(other)")
            }
        }
        guard let url = URL(string: url) else { throw Failure("not a URL: \(url)") }
        self.url = url
        self.isUnattended = isUnattended
    }

    /// A client without a session.
    public func auth(storage: any SessionStorage = MemorySessionStorage()) throws -> Auth {
        try Auth(url: url, apiKey: "any", storage: storage)
    }

    /// A browser whose user does this.
    public func browser(_ step: SampleBrowser.Step, redirectURI: String = "http://127.0.0.1/") throws -> SampleBrowser {
        guard let redirectURI = URL(string: redirectURI) else { throw Failure("not a URL: \(redirectURI)") }
        return SampleBrowser(step, redirectURI: redirectURI, isUnattended: isUnattended)
    }

    /// Prints what the sample did, or fails.
    public func expect(_ isTrue: Bool, _ text: String) throws {
        guard isTrue else { throw Failure(text) }
        print("ok      \(text)")
    }

    /// Prints what was refused, and returns the error.
    @discardableResult
    public func expectError(_ text: String, of operation: @Sendable () async throws -> Any) async throws -> AuthError {
        do { _ = try await operation() } catch let error as AuthError {
            print("ok      \(text): \(error)")
            return error
        }
        throw Failure("\(text): no error")
    }

    /// Expects the error of a user who cancels at the provider.
    public func expectCancellation(_ text: String, of operation: @Sendable () async throws -> Any) async throws {
        let error = try await expectError(text, of: operation)
        guard case .cancelled = error else { throw error }
    }

    /// Moves the service's clock, if `SAMPLE_CLOCK` names its file, so that a provider's token expires.
    /// - Returns: false if the clock cannot be moved.
    public func letPass(hours: Int64) throws -> Bool {
        guard let path = ProcessInfo.processInfo.environment["SAMPLE_CLOCK"] else { return false }
        let offset = try Data(contentsOf: URL(fileURLWithPath: path)).withUnsafeBytes {
            $0.loadUnaligned(as: Int64.self)
        }
        let next = withUnsafeBytes(of: offset + hours * 3_600_000_000_000) { Data($0) }
        // In place: the service has the file mapped.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: next)
        try file.close()
        return true
    }

    /// Calls a provider's API with an access token.
    public func get(_ url: URL?, scheme: String = "Bearer", token: String?) async throws -> [String: Any] {
        guard let url, let token else { throw Failure("no URL, or no access token") }
        var request = URLRequest(url: url)
        request.setValue("\(scheme) \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("identity-samples", forHTTPHeaderField: "User-Agent")
        let (data, _) = try await URLSession.shared.data(for: request)
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }
}

public struct Failure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

extension AdditionalUserInfo {
    /// A member of the provider's profile.
    public func profile(_ name: String) -> String? {
        let object = profileJSON.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) } as? [String: Any]
        return object?[name] as? String
    }
}
