import Development
import Outbound
import Projects
import Storage
import TestKit
import Testing

@Suite("Blocking functions of several projects", .database, .timeLimit(.minutes(10)))
struct FunctionShareTests {
    @Test("T-E11: a function that hangs takes no room of another project's at the same host")
    func shares() async throws {
        try await WebReceiver.run { receiver in
            let gate = TestGate()
            receiver.answer { request in
                if request.path == "/slow" { await gate.pass() }
                return (200, "{}")
            }
            defer { gate.open() }
            var options = TestService.Options()
            options.outboundLimits.requestsPerHost = 8
            options.outboundLimits.requestsPerShare = 2
            options.settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/fast"
            options.settings.asksFunctionsAboutAll = true
            try await TestService.run(options) { service in
                let configuration = service.stores.configuration
                let neighbour = try #require(ProjectID(rawValue: "neighbour-\(service.project.number)"))
                var settings = service.project.settings
                settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/slow"
                try await configuration.createProject(neighbour, settings: settings)
                let key = try await configuration.createAPIKey(for: neighbour, displayName: nil).rawValue
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            _ = try await PlainHTTP.send(
                                "POST",
                                "\(service.baseURL)/v1/accounts:signUp?key=\(key)",
                                headers: [("Content-Type", "application/json")],
                                body: Array("{}".utf8)
                            )
                        }
                    }
                    await gate.reached(by: 2)
                    // The others find the share taken.
                    for _ in 0..<18 { try await group.next() }
                    let reply = try await service.signUp("ada@example.com")
                    #expect(reply.status == 200, "\(reply)")
                    #expect(receiver.received.count { $0.path == "/slow" } == 2)
                    gate.open()
                    try await group.waitForAll()
                }
            }
        }
    }
}
