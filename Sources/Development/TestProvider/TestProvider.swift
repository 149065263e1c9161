package import struct Foundation.Date
package import Logging
import NIOCore
package import Secrets
import ServiceLifecycle
import Synchronization
import Text

/// A real HTTP server on 127.0.0.1 that plays identity providers, each a tenant below `/t/{name}/`.
///
/// For `identity dev`, where people sign in with it, and for the tests, where it also misbehaves on demand. It checks
/// strictly what a client sends and notes each mistake.
package final class TestProvider: Service {
    private struct State {
        var tenants: [String: TestTenant] = [:]
        var address: Result<String, any Error>?
        var waiting: [CheckedContinuation<String, any Error>] = []
        var channels: [ObjectIdentifier: any Channel] = [:]
        var gates: [TestGate] = []
        var isStopped = false
    }

    private let port: Int
    private let now: @Sendable () -> Date
    private let random: RandomSource
    private let people: (@Sendable (_ tenant: String) async throws -> [TestUser])?
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - port: 0 for one that is free.
    ///   - now: the clock for lifetimes and claims.
    ///   - people: the users whom a tenant's page lists beside its own; nil for those that were added on the page.
    package init(
        port: Int = 0,
        now: @escaping @Sendable () -> Date = { Date() },
        random: RandomSource = .system,
        people: (@Sendable (_ tenant: String) async throws -> [TestUser])? = nil,
        logger: Logger = Logger(label: "test-provider", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.port = port
        self.now = now
        self.random = random
        self.people = people
        self.logger = logger
    }

    /// Serves until graceful shutdown or cancellation.
    package func run() async throws {
        let server = PlainServer(port: port) { port in
            self.started(.success("http://127.0.0.1:\(port)"))
        } respond: { request in
            try await TestProviderResponder(provider: self).respond(to: request)
        }
        do {
            try await withTaskCancellationOrGracefulShutdownHandler {
                try await server.run()
            } onCancelOrGracefulShutdown: {
                self.letGo()
            }
        } catch {
            started(.failure(error))
            throw error
        }
        started(.failure(TestProviderError.stopped))
    }

    /// `http://127.0.0.1:{port}`, once the socket is bound.
    package func baseURL() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let known = state.withLock { state in
                if state.address == nil { state.waiting.append(continuation) }
                return state.address
            }
            if let known { continuation.resume(with: known) }
        }
    }

    /// Adds a provider, once the socket is bound.
    ///
    /// - Parameters:
    ///   - name: a path segment, which must be new.
    ///   - title: what people read on the page; nil for the personality's name.
    ///   - issuer: nil for the base URL, which changes with the port.
    ///   - now: nil for the server's clock.
    package func addTenant(
        _ name: String,
        _ personality: ProviderPersonality,
        title: String? = nil,
        issuer: String? = nil,
        now: (@Sendable () -> Date)? = nil
    ) async throws -> TestTenant {
        let base = try await baseURL() + "/t/" + PercentEncoding.encode(name)
        let tenant = TestTenant(
            TenantState(
                name: name,
                title: title ?? personality.name,
                base: base,
                issuer: issuer ?? base,
                personality: personality,
                now: now ?? self.now,
                random: random
            )
        )
        try state.withLock { state in
            guard state.tenants[name] == nil else { throw TestProviderError.nameTaken(name) }
            state.tenants[name] = tenant
        }
        return tenant
    }

    /// Brings the list on a tenant's page up to date.
    func refreshPeople(of tenant: TestTenant) async throws {
        guard let found = try await people?(tenant.name) else { return }
        tenant.withState { $0.list(found) }
    }

    package func tenant(_ name: String) -> TestTenant? { state.withLock { $0.tenants[name] } }

    /// Runs a server for as long as the body runs.
    package func serve<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        let group = ServiceGroup(configuration: .init(services: [self], logger: logger))
        return try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await group.run() }
            _ = try await baseURL()
            do {
                let result = try await body()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                try? await tasks.waitForAll()
                throw error
            }
        }
    }
}

package enum TestProviderError: Error, Equatable {
    case stopped
    case nameTaken(String)
}

// MARK: - Connections

extension TestProvider {
    private func started(_ address: Result<String, any Error>) {
        let waiting = state.withLock { state in
            state.address = address
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: address) }
    }

    /// Notes a connection whose answer may never end by itself, so that it can't keep the server from stopping.
    func hold(_ channel: any Channel, at gate: TestGate?) {
        let isStopped = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            if let gate { state.gates.append(gate) }
            return state.isStopped
        }
        if isStopped { letGo() }
    }

    func release(_ channel: any Channel) {
        state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
    }

    private func letGo() {
        let (channels, gates) = state.withLock { state in
            state.isStopped = true
            return (Array(state.channels.values), state.gates)
        }
        for gate in gates { gate.open() }
        for channel in channels { channel.close(mode: .all, promise: nil) }
    }
}
