import HTTPTypes
import Outbound
package import Projects
import StrictJSON

extension FederationService {
    /// Sends a request to a provider, once; the caller interprets the response.
    func call(
        _ request: OutboundRequest,
        of definition: ProviderDefinition
    ) async throws(FederationError) -> OutboundResponse {
        do throws(OutboundError) {
            return try await measured(request, of: definition)
        } catch {
            throw .unavailable(.init(error))
        }
    }

    /// Counts a request; all requests to providers use this.
    func measured(
        _ request: OutboundRequest,
        of definition: ProviderDefinition
    ) async throws(OutboundError) -> OutboundResponse {
        let start = ContinuousClock.now
        do throws(OutboundError) {
            let response = try await http.send(request)
            let failed = FederationError.Unavailable(status: response.status) != nil
            let duration = ContinuousClock.now - start
            calls.record(
                definition.id,
                failed ? .failed : response.status < 400 ? .ok : .refused,
                duration
            )
            ProviderRequest.note(request, status: response.status, duration)
            return response
        } catch {
            ProviderRequest.note(request, status: nil, ContinuousClock.now - start)
            // A cancelled caller says nothing about the provider.
            if error != .cancelled { calls.record(definition.id, .failed, ContinuousClock.now - start) }
            throw error
        }
    }

    /// Sends a request exactly once.
    ///
    /// - Throws: ``FederationError/unavailable(_:)`` without a response, and for one that says nothing about the
    ///   request.
    func send(
        _ request: OutboundRequest,
        of definition: ProviderDefinition
    ) async throws(FederationError) -> OutboundResponse {
        let response = try await call(request, of: definition)
        if let unavailable = FederationError.Unavailable(status: response.status) { throw .unavailable(unavailable) }
        return response
    }

    /// Calls a provider's API with an access token and parses the JSON response.
    func callAPI(
        _ request: OutboundRequest,
        of definition: ProviderDefinition
    ) async throws(FederationError) -> JSONValue {
        var request = request
        request.maximumResponseSize = 128 * 1024
        let response = try await send(request, of: definition)
        guard response.status == 200 else {
            // GitHub reports its rate limits with 403 too.
            if response.status == 403, response.reportsRateLimit { throw .unavailable(.throttled) }
            throw .accessTokenRejected
        }
        guard response.mayBeJSON, let answer = try? JSONValue(parsing: response.body, allowsNUL: true) else {
            throw .invalidAnswer(.notUnderstood)
        }
        return answer
    }
}

extension OutboundResponse {
    /// The headers that GitHub's "Rate limits for the REST API" names.
    fileprivate var reportsRateLimit: Bool {
        headers[.retryAfter] != nil || HTTPField.Name("x-ratelimit-remaining").flatMap { headers[$0] } == "0"
    }
}

extension FederationService {
    /// Calls providers for a project, in its share of each host.
    package func calling<Value, Failure: Error>(
        for project: ProjectID,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await OutboundShare.with(project.rawValue, work)
    }
}
