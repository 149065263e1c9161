import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Text

/// Turns HTTP into ``RecordedRequest`` and ``ProviderAnswer``, and carries out the faults that concern connections.
struct TestProviderResponder: HTTPResponder {
    let provider: TestProvider

    struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            self.coreContext = .init(source: source)
            self.channel = source.channel
        }
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        // Only this computer's own names, so that no web page can rebind its name to this server.
        guard let host = request.head.authority, let address = URLParts("http://" + host), address.isWeb,
            address.isLoopback
        else {
            return Response(status: .misdirectedRequest)
        }
        guard let (tenant, endpoint) = target(of: request.uri.path) else { return Response(status: .notFound) }
        if endpoint == .authorization { try await provider.refreshPeople(of: tenant) }
        let recorded = RecordedRequest(
            endpoint: endpoint,
            method: request.method.rawValue,
            path: request.uri.path,
            query: request.uri.query ?? "",
            headers: request.headers.map { (name: $0.name.rawName, value: $0.value) },
            body: Array(buffer: body),
            time: tenant.withState { $0.now() }
        )
        let (number, faults) = tenant.withState { state in
            (state.record(recorded), state.faults.take(endpoint))
        }
        return try await respond(to: recorded, number: number, of: tenant, with: faults, context.channel)
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
    ) async throws -> Response {
        for fault in faults {
            guard case .held(let gate) = fault else { continue }
            provider.hold(channel, at: gate)
            await gate.pass()
            provider.release(channel)
        }
        if faults.contains(where: { if case .reset = $0 { true } else { false } }) {
            try await cut(channel)
            return Response(status: .serviceUnavailable)
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

        var headers = HTTPFields()
        for (name, value) in answer.completeHeaders {
            if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
        }
        return Response(
            status: .init(code: status),
            headers: headers,
            body: body(answer.bytes, with: faults, channel)
        )
    }

    private func body(_ bytes: [UInt8], with faults: [ProviderFault], _ channel: any Channel) -> ResponseBody {
        let whole = ByteBuffer(bytes: bytes)
        let half = ByteBuffer(bytes: bytes.prefix(bytes.count / 2))
        let rest = ByteBuffer(bytes: bytes.dropFirst(bytes.count / 2))
        for fault in faults {
            switch fault {
            case .resetInBody:
                return ResponseBody(contentLength: bytes.count) { writer in
                    try await writer.write(half)
                    try await cut(channel)
                    try await writer.write(rest)
                }
            case .heldInBody(let gate):
                return ResponseBody(contentLength: bytes.count) { writer in
                    try await writer.write(half)
                    provider.hold(channel, at: gate)
                    await gate.pass()
                    provider.release(channel)
                    try await writer.write(rest)
                    try await writer.finish(nil)
                }
            case .endless:
                return ResponseBody { writer in
                    let spaces = ByteBuffer(repeating: 0x20, count: 16_384)
                    provider.hold(channel, at: nil)
                    defer { provider.release(channel) }
                    while channel.isActive { try await writer.write(spaces) }
                }
            default: continue
            }
        }
        return ResponseBody(byteBuffer: whole)
    }

    /// Ends the connection with a reset, not with the usual farewell.
    private func cut(_ channel: any Channel) async throws {
        if let socket = channel as? any SocketOptionProvider {
            try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close(mode: .all)
    }
}
