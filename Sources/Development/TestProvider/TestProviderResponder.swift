import Foundation
import NIOCore
import Text

/// Turns HTTP into ``RecordedRequest`` and ``ProviderAnswer``, and carries out the faults that concern connections.
struct TestProviderResponder {
    let provider: TestProvider

    func respond(to request: PlainServer.Request) async throws -> PlainServer.Response {
        // Only this computer's own names, so that no web page can rebind its name to this server.
        guard let host = request.header("host"), let address = URLParts("http://" + host), address.isWeb,
            address.isLoopback
        else {
            return PlainServer.Response(status: 421)
        }
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? "")
        guard let (tenant, endpoint) = target(of: path) else { return PlainServer.Response(status: 404) }
        if endpoint == .authorization { try await provider.refreshPeople(of: tenant) }
        let recorded = RecordedRequest(
            endpoint: endpoint,
            method: request.method,
            path: path,
            query: parts.count > 1 ? String(parts[1]) : "",
            headers: request.headers,
            body: request.body,
            time: tenant.withState { $0.now() }
        )
        let (number, faults) = tenant.withState { state in
            (state.record(recorded), state.faults.take(endpoint))
        }
        return try await respond(to: recorded, number: number, of: tenant, with: faults, request.channel)
    }

    private func target(of path: String) -> (TestTenant, ProviderEndpoint)? {
        let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count == 3, parts[0] == "t", let name = PercentEncoding.decode(parts[1], plusIsSpace: true),
            let tenant = provider.tenant(name),
            let endpoint = tenant.personality.endpoint(at: parts[2])
        else { return nil }
        return (tenant, endpoint)
    }

    private func respond(
        to request: RecordedRequest,
        number: Int,
        of tenant: TestTenant,
        with faults: [ProviderFault],
        _ channel: any Channel
    ) async throws -> PlainServer.Response {
        for fault in faults {
            guard case .held(let gate) = fault else { continue }
            provider.hold(channel, at: gate)
            await gate.pass()
            provider.release(channel)
        }
        if faults.contains(where: { if case .reset = $0 { true } else { false } }) {
            try await cut(channel)
            return PlainServer.Response(status: 503)
        }
        var answer: ProviderAnswer
        if let substitute = faults.lazy.compactMap(\.substitute).first {
            answer = substitute
        } else {
            answer = try tenant.withState { try $0.answer(request) }
        }
        for fault in faults { fault.change(&answer) }
        let status = answer.status
        tenant.withState { $0.setStatus(status, ofRequest: number) }

        var response = PlainServer.Response(status: status, headers: answer.completeHeaders)
        response.body = body(answer.bytes, with: faults, channel)
        return response
    }

    private func body(_ bytes: [UInt8], with faults: [ProviderFault], _ channel: any Channel) -> PlainServer.Body {
        let half = Array(bytes.prefix(bytes.count / 2))
        let rest = Array(bytes.dropFirst(bytes.count / 2))
        for fault in faults {
            switch fault {
            case .resetInBody:
                return .parts(length: bytes.count) { write in
                    try await write(half)
                    try await cut(channel)
                }
            case .heldInBody(let gate):
                return .parts(length: bytes.count) { write in
                    try await write(half)
                    provider.hold(channel, at: gate)
                    await gate.pass()
                    provider.release(channel)
                    try await write(rest)
                }
            case .endless:
                return .parts(length: nil) { write in
                    provider.hold(channel, at: nil)
                    defer { provider.release(channel) }
                    while channel.isActive { try await write(Array(repeating: 0x20, count: 16_384)) }
                }
            default: continue
            }
        }
        return .whole(bytes)
    }

    /// Ends the connection with a reset, not with the usual farewell.
    private func cut(_ channel: any Channel) async throws {
        if let socket = channel as? any SocketOptionProvider {
            try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close(mode: .all)
    }
}
