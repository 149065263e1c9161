import Foundation
import HTTPTypes
import Outbound

extension FederationService {
    /// A small JSON document of somebody else, read once; nil for anything but a success.
    package func document(at url: String, atMost size: Int) async throws -> [UInt8]? {
        guard let response = await read(url, atMost: size), response.mayBeJSON else { return nil }
        return response.body
    }

    /// The same for a file of any type.
    package func file(at url: String, atMost size: Int) async throws -> [UInt8]? {
        await read(url, atMost: size, accepting: "text/plain")?.body
    }

    private func read(
        _ url: String,
        atMost size: Int,
        accepting type: String = "application/json"
    ) async -> OutboundResponse? {
        let request = OutboundRequest(
            url: url,
            headers: [.accept: type],
            maximumResponseSize: size,
            timeLimit: .seconds(5)
        )
        guard let response = try? await http.send(request), response.status == 200 else { return nil }
        return response
    }
}
