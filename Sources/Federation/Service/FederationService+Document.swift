import Foundation
import HTTPTypes
import Outbound

extension FederationService {
    /// A small JSON document of somebody else, read once; nil for anything but a success.
    package func document(at url: String, atMost size: Int) async throws -> [UInt8]? {
        let request = OutboundRequest(
            url: url,
            headers: [.accept: "application/json"],
            maximumResponseSize: size,
            timeLimit: .seconds(5)
        )
        guard let response = try? await http.send(request), response.status == 200, response.mayBeJSON else {
            return nil
        }
        return response.body
    }
}
