import Outbound
import StrictJSON

extension FederationService {
    /// Calls a provider's API with an access token, once, and reads the JSON of its answer.
    func callAPI(_ request: OutboundRequest) async throws(FederationError) -> JSONValue {
        var request = request
        request.maximumResponseSize = 128 * 1024
        let response: OutboundResponse
        do throws(OutboundError) {
            response = try await http.send(request)
        } catch {
            throw .unavailable(.init(error))
        }
        if let unavailable = FederationError.Unavailable(status: response.status) { throw .unavailable(unavailable) }
        guard response.status == 200 else { throw .accessTokenRejected }
        guard response.mayBeJSON, let answer = try? JSONValue(response.body, allowsNUL: true) else {
            throw .invalidAnswer(.notUnderstood)
        }
        return answer
    }
}
