import Outbound
import Projects
import Storage
import Synchronization
import TestKit
import Testing

@Suite("Blocking functions of several projects", .database, .timeLimit(.minutes(1)))
struct FunctionShareTests {
    @Test("T-E11: a function that hangs takes no room of another project's at the same host")
    func shares() async throws {
        try await WebReceiver.run { receiver in
            let isOver = Mutex(false)
            receiver.answer { request in
                while request.path == "/slow", !isOver.withLock({ $0 }) {
                    try? await Task.sleep(for: .milliseconds(20))
                }
                return (200, "{}")
            }
            defer { isOver.withLock { $0 = true } }
            var options = TestService.Options()
            options.outboundLimits.requestsPerHost = 8
            options.outboundLimits.requestsPerShare = 2
            options.settings.blockingFunctions[.beforeCreate] = receiver.baseURL + "/fast"
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
                    try await waitUntil { receiver.received.count { $0.path == "/slow" } >= 2 }
                    try await Task.sleep(for: .milliseconds(300))
                    let reply = try await service.signUp("ada@example.com")
                    #expect(reply.status == 200, "\(reply)")
                    isOver.withLock { $0 = true }
                    try await group.waitForAll()
                }
            }
        }
    }
}
