import HTTPTypes
import Outbound
import Projects
import Secrets
import Text

/// Signs requests for a client, and for a user once there is a token (RFC 5849 §3).
struct OAuth1Signer {
    var client: ProviderConfiguration
    var token: OAuth1Token?
    /// Seconds since 1970.
    var timestamp: Int64
    /// Different for each request.
    var nonce: String

    /// Adds the `Authorization` header.
    ///
    /// - Parameter parameters: `oauth_callback` or `oauth_verifier`, which are also sent in the header.
    func sign(_ request: inout OutboundRequest, _ parameters: [(name: String, value: String)] = []) {
        var all: [(name: String, value: String)] = [
            ("oauth_consumer_key", client.clientID), ("oauth_nonce", nonce), ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", String(timestamp)), ("oauth_version", "1.0"),
        ]
        all += parameters
        if let token { all.append(("oauth_token", token.token)) }
        let signature = OAuth1Signature.hmacSHA1(
            OAuth1Signature.baseString(request.method.rawValue, request.url, all),
            clientSecret: client.clientSecret?.reveal() ?? "",
            tokenSecret: token?.secret ?? ""
        )
        all.append(("oauth_signature", signature))
        request.headers[.authorization] =
            "OAuth "
            + all.map { PercentEncoding.encode($0.name) + "=\"" + PercentEncoding.encode($0.value) + "\"" }.joined(
                separator: ", "
            )
    }
}

extension FederationService {
    func signer(_ client: ProviderConfiguration, _ token: OAuth1Token? = nil) -> OAuth1Signer {
        OAuth1Signer(client: client, token: token, timestamp: seconds, nonce: random.handle())
    }
}
