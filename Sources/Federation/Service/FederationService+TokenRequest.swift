import Foundation
import HTTPTypes
import Outbound
import Projects
import Secrets
import Text

/// Our client at a provider: the client ID, and its credential (RFC 6749 §2.3).
struct ProviderClient: Sendable {
    var id: String
    var authentication: ProviderDefinition.ClientAuthentication
    /// The secret itself, or the private key that signs one.
    var secret: Secret?
}

extension FederationService {
    /// Posts a form to an endpoint that authenticates the client (token, revocation), in exactly one request.
    ///
    /// - Throws: ``FederationError/unavailable(_:)`` without a response, ``FederationError/misconfigured(_:)`` without
    ///   a
    ///   key that can sign; the caller interprets the response.
    func post(
        _ form: [(name: String, value: String)],
        to url: String,
        as client: ProviderClient,
        definition: ProviderDefinition
    ) async throws(FederationError) -> OutboundResponse {
        var form = form
        var headers: HTTPFields = [
            .accept: definition.token.accept,
            .contentType: "application/x-www-form-urlencoded",
        ]
        switch client.authentication {
        case .basic:
            let parts = [client.id, client.secret?.reveal() ?? ""]
            let pair = (definition.token.encodesBasic ? parts.map { PercentEncoding.encode($0) } : parts).joined(
                separator: ":"
            )
            headers[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        case .post:
            form.append(("client_id", client.id))
            form.append(("client_secret", client.secret?.reveal() ?? ""))
        case .none, .automatic:
            form.append(("client_id", client.id))
        case .appleSecret, .privateKeyJWT:
            form += try assertion(of: client, for: url, definition: definition)
        }
        form += definition.token.extraParameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let request = OutboundRequest(
            method: .post,
            url: url,
            headers: headers,
            body: Array(FormFields(form).text.utf8),
            maximumResponseSize: 256 * 1024
        )
        return try await call(request, of: definition)
    }

    /// The form fields with which a client with a private key authenticates.
    private func assertion(
        of client: ProviderClient,
        for url: String,
        definition: ProviderDefinition
    ) throws(FederationError) -> [(name: String, value: String)] {
        do throws(InvalidDefinition) {
            if client.authentication == .appleSecret,
                let secret = try AppleClientSecret.value(for: client, now: seconds)
            {
                return [("client_id", client.id), ("client_secret", secret)]
            }
            let key = try ClientKey(client.secret)
            if client.authentication == .appleSecret {
                let secret = try ClientAssertion.appleSecret(
                    clientID: client.id,
                    key: key,
                    variables: definition.variables,
                    audience: definition.issuers.first ?? "",
                    now: seconds
                )
                return [("client_id", client.id), ("client_secret", secret)]
            }
            let assertion = try ClientAssertion.clientAssertion(
                clientID: client.id,
                key: key,
                keyID: definition.variables["keyId"],
                // Never a value from discovery: a provider could get assertions that are valid at another one
                // (CVE-2025-27370). Without an issuer there is no discovery either.
                audience: definition.variables["audience"] ?? definition.issuers.first ?? url,
                id: random.handle(),
                now: seconds
            )
            return [
                ("client_id", client.id),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ]
        } catch {
            throw .misconfigured(error)
        }
    }
}
