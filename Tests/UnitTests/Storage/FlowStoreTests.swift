import Federation
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Synchronization
import TestKit
import Testing

/// Flows that begin and end at the same moment, and so share their statements.
@Suite("Flows in batches", .database, .timeLimit(.minutes(10)))
struct FlowStoreTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static func scope(_ project: String = "demo-project", tenant: TenantID = .none) throws -> Scope {
        Scope(project: try #require(ProjectID(rawValue: project)), tenant: tenant)
    }

    private struct Begun: Sendable {
        var state: String
        var sessionID: String
        var verifier: String?
    }

    private static func store() throws -> FlowStore {
        let keyRing = try KeyRing(keys: [KeyRing.Key(id: "test", bytes: [UInt8](repeating: 7, count: 32))])
        return FlowStore(database: TestDatabase.current.client, keyRing: keyRing)
    }

    /// Begins flows, all at once.
    private static func begin(_ count: Int, in store: FlowStore) async throws -> [Begun] {
        let scope = try scope()
        let begun = Mutex<[Begun]>([])
        try await FederationWorld.run { world in
            let configuration = world.oidc()
            let flows = try await withThrowingTaskGroup(of: Begun.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let request = try await world.start(configuration)
                        try await store.insert(
                            request.flow,
                            state: request.state,
                            sessionID: Secret("session \(number)"),
                            purpose: .signIn,
                            context: number.isMultiple(of: 2) ? "context \(number)" : nil,
                            in: scope,
                            now: now,
                            lifetime: 600
                        )
                        return Begun(
                            state: request.state.reveal(),
                            sessionID: "session \(number)",
                            verifier: request.flow.pkceVerifier
                        )
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            begun.withLock { $0 = flows }
        }
        return begun.withLock { $0 }
    }

    @Test("T-B15: of callbacks at two nodes one ends each flow, and gets that flow")
    func endsEachOnce() async throws {
        let scope = try Self.scope()
        let nodes = [try Self.store(), try Self.store()]
        let flows = try await Self.begin(120, in: nodes[0])
        let ended = try await withThrowingTaskGroup(of: String?.self) { group in
            for (number, flow) in (flows + flows + flows + flows).shuffled().enumerated() {
                group.addTask {
                    let store = nodes[number % 2]
                    let consumed = try await store.consume(
                        state: flow.state,
                        sessionID: flow.sessionID,
                        in: scope,
                        now: Self.now
                    )
                    guard let consumed else { return nil }
                    #expect(consumed.flow.pkceVerifier == flow.verifier)
                    let context = flow.sessionID.replacing("session", with: "context")
                    #expect(consumed.context == nil || consumed.context == context)
                    return flow.state
                }
            }
            return try await group.reduce(into: [String]()) { if let state = $1 { $0.append(state) } }
        }
        #expect(ended.sorted() == flows.map(\.state).sorted())
    }

    @Test("T-B1: in a batch too, no other session or scope can finish a flow, nor can its own after it expired")
    func refusesOthers() async throws {
        let (scope, store) = (try Self.scope(), try Self.store())
        let flows = try await Self.begin(8, in: store)
        let other = try Self.scope("other-project")
        let tenant = try Self.scope(tenant: TenantID(rawValue: "tenant"))
        try await withThrowingTaskGroup(of: FlowStore.Consumed?.self) { group in
            for (flow, next) in zip(flows, flows.dropFirst() + flows.prefix(1)) {
                let attempts: [(String, Scope, Date)] = [
                    (next.sessionID, scope, Self.now), (flow.sessionID, other, Self.now),
                    (flow.sessionID, tenant, Self.now), (flow.sessionID, scope, Self.now.addingTimeInterval(600)),
                ]
                for (sessionID, place, now) in attempts {
                    group.addTask {
                        try await store.consume(state: flow.state, sessionID: sessionID, in: place, now: now)
                    }
                }
            }
            for try await consumed in group { #expect(consumed == nil) }
        }
        for flow in flows {
            let consumed = try await store.consume(
                state: flow.state,
                sessionID: flow.sessionID,
                in: scope,
                now: Self.now
            )
            #expect(consumed != nil)
        }
    }

    @Test("a flow whose row is locked holds up no other, and is there when the lock's owner gave up")
    func lockedRow() async throws {
        let (scope, store) = (try Self.scope(), try Self.store())
        let flows = try await Self.begin(40, in: store)
        let held = flows[0]
        let waiting = Mutex<Task<FlowStore.Consumed?, any Error>?>(nil)
        try await TestDatabase.current.client.transaction { transaction in
            try await transaction.execute(
                "SELECT 1 FROM flows WHERE state_hash = \(SecureHash.sha256(held.state)) FOR UPDATE"
            )
            // The first of them runs alone; the held one shares a batch with the rest.
            let others = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, flow) in flows.dropFirst().enumerated() {
                    if number == 5 {
                        let task = Task {
                            try await store.consume(
                                state: held.state,
                                sessionID: held.sessionID,
                                in: scope,
                                now: Self.now
                            )
                        }
                        waiting.withLock { $0 = task }
                    }
                    group.addTask {
                        try await store.consume(
                            state: flow.state,
                            sessionID: flow.sessionID,
                            in: scope,
                            now: Self.now
                        ) != nil
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(others == flows.count - 1)
        }
        let task = try #require(waiting.withLock { $0 })
        #expect(try await task.value != nil)
    }
}
