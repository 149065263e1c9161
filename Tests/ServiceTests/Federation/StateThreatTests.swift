import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

@Suite("Attacks on the state", .database, .testProvider)
struct StateThreatTests {
    typealias Kind = ProviderScene.Kind

    // MARK: Login CSRF and fixation

    @Test("T-B1: the right state without the client's own session id is refused", arguments: Kind.allCases)
    func sessionBinding(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            let other = try await scene.arrive()
            let state = arrival.fields["state"] ?? ""
            let wrong: [String?] = [
                nil, "", "wrong", other.sessionID, state, arrival.sessionID + "A", String(arrival.sessionID.dropLast()),
                arrival.sessionID.uppercased(), SecureHash.sha256Hex(arrival.sessionID),
            ]
            for sessionID in wrong {
                try await scene.refuses(Messages.usedFlow) {
                    try await scene.service.finishFlow(at: arrival.callback, sessionID: sessionID)
                }
            }
            #expect(scene.tenant.requests(.token).isEmpty, "the code stays good for the one who started")
            try await scene.finish(arrival).expectOK()
        }
    }

    @Test("T-B1: a client may begin with the hash of its session id and end with the id itself")
    func hashedSession() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let raw = "the-raw-session-id-of-an-app"
            let hash = SecureHash.sha256Hex(raw)
            for proof in [raw, hash] {
                var arrival = try await scene.arrive(["sessionId": .string(hash)])
                #expect(arrival.sessionID == hash, "echoed")
                arrival.sessionID = proof
                #expect(try await scene.finish(arrival).status == 200, "\(proof)")
            }
            // One hash, of exactly that text, in lower case.
            var arrival = try await scene.arrive(["sessionId": .string(hash)])
            for proof in [SecureHash.sha256Hex(hash), raw + " ", hash.uppercased(), raw.uppercased()] {
                arrival.sessionID = proof
                try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            }
        }
    }

    @Test("T-B1, T-B15: a state is good once", arguments: Kind.allCases)
    func reuse(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            let first = try await scene.finish(arrival)
            first.expectOK()
            for _ in 0..<3 { try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) } }
            #expect(scene.tenant.requests(.token).count == 1)
            #expect(try await scene.service.refresh(first.refreshToken).status == 200, "the session lives on")
        }
    }

    @Test("T-B1: a state is another project's business there")
    func otherProject() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let arrival = try await scene.arrive()
            let id = try #require(ProjectID(rawValue: "other-" + RandomSource.system.text(8, of: "abcdef")))
            try await scene.service.stores.configuration.createProject(id, settings: ProjectSettings())
            let key = try await scene.service.stores.configuration.createAPIKey(for: id, displayName: nil)
            try await scene.service.stores.configuration.createProvider(
                scene.tenant.configuration(as: scene.provider),
                in: Scope(project: id)
            )
            try await scene.refuses(Messages.usedFlow) {
                try await scene.service.post(
                    "/v1/accounts:signInWithIdp?key=\(key.rawValue)",
                    text: JSON.object([
                        "requestUri": .string(arrival.callback), "sessionId": .string(arrival.sessionID),
                    ]).text
                )
            }
            try await scene.finish(arrival).expectOK()
        }
    }

    @Test("T-B15: fifty callbacks at once over two nodes are one success", arguments: [Kind.oidc, .oauth2])
    func parallelReplay(_ kind: Kind) async throws {
        try await ProviderScene.run(kind) { scene in
            let arrival = try await scene.arrive()
            var options = TestService.Options()
            options.project = scene.service.project
            options.clock = scene.service.clock
            let replies = try await TestService.run(options) { node in
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for index in 0..<50 {
                        let service = index % 2 == 0 ? scene.service : node
                        group.addTask {
                            try await service.finishFlow(at: arrival.callback, sessionID: arrival.sessionID)
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            for reply in replies { scene.secrets.add(from: reply) }
            #expect(replies.filter { $0.status == 200 }.count == 1)
            #expect(replies.filter { $0.error == Messages.usedFlow }.count == 49)
            #expect(scene.tenant.requests(.token).count == 1, "the code was sent once")
            let sessions = try await TestDatabase.current.client.query(
                "SELECT count(*) FROM sessions WHERE project = \(scene.service.project.id.rawValue)"
            ) { try $0.next(Int64.self) }
            #expect(sessions == [1])
        }
    }
}
