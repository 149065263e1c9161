import Outbound
import StrictJSON

extension FederationService {
    /// Sends a request to a provider, once; what the answer says is the caller's to read.
    func call(_ request: OutboundRequest) async throws(FederationError) -> OutboundResponse {
        do throws(OutboundError) {
            return try await http.send(request)
        } catch {
            throw .unavailable(.init(error))
        }
    }

    /// Sends a request once, whatever happens.
    ///
    /// - Throws: ``FederationError/unavailable(_:)`` without an answer, and for one that says nothing about the request.
    func send(_ request: OutboundRequest) async throws(FederationError) -> OutboundResponse {
        let response = try await call(request)
        if let unavailable = FederationError.Unavailable(status: response.status) { throw .unavailable(unavailable) }
        return response
    }

    /// Calls a provider's API with an access token and reads the JSON of its answer.
    func callAPI(_ request: OutboundRequest) async throws(FederationError) -> JSONValue {
        var request = request
        request.maximumResponseSize = 128 * 1024
        let response = try await send(request)
        guard response.status == 200 else { throw .accessTokenRejected }
        guard response.mayBeJSON, let answer = try? JSONValue(response.body, allowsNUL: true) else {
            throw .invalidAnswer(.notUnderstood)
        }
        return answer
    }
}
