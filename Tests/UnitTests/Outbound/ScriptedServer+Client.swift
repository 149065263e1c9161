import Foundation
import Outbound
import TestKit
import Testing
import Text

extension ScriptedServer {
    /// A client beside a server, closed afterwards.
    static func withClient(
        policy: AddressPolicy = AddressPolicy(allowsLoopback: true),
        limits: OutboundLimits = .patient,
        resolver: AddressResolver = .system,
        _ body: @Sendable (OutboundClient, ScriptedServer) async throws -> Void
    ) async throws {
        try await ScriptedServer.run { server in
            let client = OutboundClient(policy: policy, limits: limits, resolver: resolver)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(client, server))
            } catch {
                outcome = .failure(error)
            }
            await client.shutdown()
            try outcome.get()
        }
    }
}

extension AddressResolver {
    /// Has the same addresses for every name.
    static func fixed(_ addresses: String...) -> AddressResolver {
        AddressResolver { _ in addresses.compactMap { IPAddress($0) } }
    }
}
