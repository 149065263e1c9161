import Development
import TestKit
import Testing

/// A fault as a row of a table.
struct FaultCase: Sendable, CustomTestStringConvertible {
    var name: String
    var fault: ProviderFault
    /// What the sign-in answers; nil when it succeeds.
    var message: String?

    init(_ name: String, _ fault: ProviderFault, _ message: String?) {
        self.name = name
        self.fault = fault
        self.message = message
    }

    var testDescription: String { name }
}

extension ProviderScene {
    /// Runs one sign-in into a fault, then another one without it.
    static func meets(
        _ test: FaultCase,
        at endpoint: ProviderEndpoint,
        _ kind: Kind,
        _ options: ProviderScene.Options = .init(),
        calls: Int? = 1
    ) async throws {
        try await run(kind, options) { scene in
            let arrival = try await scene.arrive()
            scene.tenant.addFault(test.fault, at: endpoint, call: calls)
            async let hurry: Void? = test.fault.isSilent ? scene.timeRunsOut(at: endpoint, options) : nil
            if let message = test.message {
                try await scene.refuses(message) { try await scene.finish(arrival) }
                try await scene.refuses(Messages.usedFlow) { try await scene.finish(arrival) }
            } else {
                let reply = try await scene.finish(arrival)
                #expect(reply.status == 200, "\(test.name): \(reply)")
            }
            _ = try await hurry
            #expect(scene.tenant.requests(.token).count == 1, "a code is sent once")
            scene.tenant.removeFaults()
            let next = try await scene.signIn()
            #expect(next.status == 200, "the service goes on: \(next)")
            try await scene.service.send("GET", "/readyz").expectOK()
        }
    }

    /// Ends the time of the service's requests once the provider has one.
    private func timeRunsOut(at endpoint: ProviderEndpoint, _ options: Options) async throws {
        try await waitUntil { !tenant.requests(endpoint).isEmpty }
        try await options.service.outboundTime.runOut()
    }
}

extension ProviderFault {
    /// Whether the time of a request has to end it.
    fileprivate var isSilent: Bool {
        switch self {
        case .held, .heldInBody: true
        default: false
        }
    }
}
