import Development
import IdentityService
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
            options.limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
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
                    for number in 0..<20 {
                        group.addTask {
                            _ = try await PlainHTTP.send(
                                "POST",
                                "\(service.baseURL)/v1/accounts:signUp?key=\(key)",
                                // Of one network, fewer would reach the function.
                                headers: [
                                    ("Content-Type", "application/json"), ("X-Forwarded-For", "198.18.45.\(number)"),
                                ],
                                body: Array("{}".utf8)
                            )
                        }
                    }
                    await gate.reached(by: 2)
                    // The others find the share taken.
                    for _ in 0..<18 { try await group.next() }
                    let reply = try await service.signUp("ada@example.com")
                    reply.expectOK()
                    #expect(receiver.received.count { $0.path == "/slow" } == 2)
                    gate.open()
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test(
        "T-E39: the sign-ins of one network, or one IPv6 /48, leave room for others' while a function hangs",
        arguments: [false, true]
    )
    func networks(isSite: Bool) async throws {
        try await WebReceiver.run { receiver in
            let gate = TestGate()
            defer { gate.open() }
            var options = TestService.Options()
            options.limits.proxies = try #require(TrustedProxies(["127.0.0.1"]))
            options.outboundLimits.requestsPerHost = 32
            options.outboundLimits.requestsPerShare = 8
            options.settings.blockingFunctions[.beforeSignIn] = receiver.baseURL + "/sign-in"
            try await TestService.run(options) { service in
                _ = try await service.signUp("ada@example.com")
                _ = try await service.signUp("mallory@example.com")
                receiver.answer { _ in
                    await gate.pass()
                    return (200, "{}")
                }
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for number in 0..<20 {
                        let address = isSite ? "2001:db8:46:\(number)::1" : "198.18.46.1"
                        group.addTask {
                            try await service.signIn("mallory@example.com", "correct horse", from: address)
                        }
                    }
                    await gate.reached(by: 2)
                    // The others find the network's part taken, and no function has refused them.
                    for _ in 0..<18 {
                        let reply = try await group.next()
                        #expect(reply?.status == 503, "\(String(describing: reply))")
                    }
                    group.addTask {
                        try await service.signIn("ada@example.com", "correct horse", from: "198.18.47.1")
                    }
                    await gate.reached(by: 3)
                    gate.open()
                    for try await reply in group { #expect(reply.status == 200, "\(reply)") }
                    // Whoever is done has left room again.
                    let again = try await service.signIn("mallory@example.com", "correct horse", from: "198.18.46.1")
                    again.expectOK()
                }
            }
        }
    }
}
