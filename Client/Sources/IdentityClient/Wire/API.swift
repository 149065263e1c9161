import Foundation
import IdentityCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The service's operations for apps, over HTTP.
struct API: Sendable {
    let url: URL
    let apiKey: String
    let tenantID: String?
    let languageCode: String?

    /// Calls an operation, such as `v1/accounts:signUp`.
    func call<Response: Decodable & Sendable>(
        _ operation: String,
        returning: Response.Type = Response.self,
        _ fill: (inout WireRequest) -> Void
    ) async throws(AuthError) -> Response {
        var body = WireRequest(tenantId: tenantID)
        fill(&body)
        var request = request(operation)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        do { request.httpBody = try JSONEncoder().encode(body) } catch { throw .invalidArgument("\(error)") }
        return try await send(request)
    }

    /// Exchanges a refresh token for new tokens.
    ///
    /// The service returns the same successor to each repetition (`identity.rotateRefreshTokens`), so a repetition
    /// after a lost response is safe.
    func refresh(_ refreshToken: String) async throws(AuthError) -> TokenResponse {
        var request = request("v1/token")
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(
            FormFields.encode(["grant_type": "refresh_token", "refresh_token": refreshToken]).utf8
        )
        return try await send(request)
    }

    private func request(_ operation: String) -> URLRequest {
        // URL(string:relativeTo:) would take the part before the colon for a scheme.
        var request = URLRequest(url: url.appendingPathComponent(operation))
        request.httpMethod = "POST"
        request.setValue(apiKey, forHTTPHeaderField: "X-Goog-Api-Key")
        if let languageCode { request.setValue(languageCode, forHTTPHeaderField: "X-Firebase-Locale") }
        return request
    }

    private func send<Response: Decodable>(_ request: URLRequest) async throws(AuthError) -> Response {
        let response: HTTP.Response
        do { response = try await HTTP.send(request) } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .unavailable(Unavailability(reason: .network(error as? URLError)))
        }
        if response.status == 200, let value = try? JSONDecoder().decode(Response.self, from: response.body) {
            return value
        }
        // Only a 4xx in the service's own format is its decision. A proxy's page, a captive portal or half a body is not.
        if (400..<500).contains(response.status), response.status != 429,
            let answer = try? JSONDecoder().decode(ErrorResponse.self, from: response.body)
        {
            throw .refused(Refusal(message: answer.error.message))
        }
        throw .unavailable(
            Unavailability(reason: .response(status: response.status), retryAfter: response.retryAfter)
        )
    }
}
