import Foundation
import HTTPTypes
import Outbound

extension FederationService {
    /// The small JSON document at a URL that a stranger named, read once a minute whoever asks.
    ///
    /// - Throws: ``FederationError/issuerUnreachable`` if the node is too busy to ask, or the caller has left.
    package func clientDocument(at url: String, atMost size: Int) async throws(FederationError) -> ClientAnswer {
        try await clients.current.documents.value(for: url) { () async throws(FederationError) in
            FetchCache.Loaded(value: try await self.readClientDocument(url, size), lifetime: nil)
        }
    }

    private func readClientDocument(_ url: String, _ size: Int) async throws(FederationError) -> ClientAnswer {
        var request = Self.request(url, atMost: size, accepting: "application/json")
        request.isForStranger = true
        do throws(OutboundError) {
            let response = try await http.send(request)
            switch response.status {
            case 200 where response.mayBeJSON: return .found(response.body)
            case 404, 410: return .gone
            default: return .unreachable
            }
        } catch {
            switch error {
            case .unreachable, .timedOut, .invalidURL, .refusedAddress, .tooLarge, .malformedResponse:
                return .unreachable
            case .busy, .cancelled: throw .issuerUnreachable
            }
        }
    }

    /// A small file that an admin named, read once; nil for anything but a success.
    package func file(at url: String, atMost size: Int) async throws -> [UInt8]? {
        let response = try? await http.send(Self.request(url, atMost: size, accepting: "text/plain"))
        return response?.status == 200 ? response?.body : nil
    }

    private static func request(_ url: String, atMost size: Int, accepting type: String) -> OutboundRequest {
        OutboundRequest(url: url, headers: [.accept: type], maximumResponseSize: size, timeLimit: .seconds(5))
    }
}
