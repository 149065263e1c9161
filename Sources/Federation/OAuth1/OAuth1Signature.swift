import Crypto
import Foundation
import Text

/// The signature of an OAuth 1.0a request (RFC 5849 §3.4) with HMAC-SHA1.
package enum OAuth1Signature {
    /// RFC 5849 §3.4.1.
    ///
    /// - Parameters:
    ///   - url: absolute; includes its query, not its fragment.
    ///   - parameters: those of the header and of a form body, decoded, without `realm` and `oauth_signature`.
    package static func baseString(
        _ method: String,
        _ url: String,
        _ parameters: [(name: String, value: String)]
    ) -> String {
        let pairs = (FormFields(URLParts(url)?.query ?? "").pairs + parameters)
            .map { (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value)) }
            // Encoded text is ASCII, so its order is that of its bytes.
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        let normalized = pairs.map { $0.name + "=" + $0.value }.joined(separator: "&")
        let parts: [String] = [method.uppercased(), baseURI(url), normalized]
        return parts.map { PercentEncoding.encode($0) }.joined(separator: "&")
    }

    /// RFC 5849 §3.4.2, in base64.
    ///
    /// - Parameter tokenSecret: empty before there is a token.
    package static func hmacSHA1(_ baseString: String, clientSecret: String, tokenSecret: String) -> String {
        let key = PercentEncoding.encode(clientSecret) + "&" + PercentEncoding.encode(tokenSecret)
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: Data(baseString.utf8),
            using: SymmetricKey(data: Data(key.utf8))
        )
        return Data(code).base64EncodedString()
    }

    /// RFC 5849 §3.4.1.2: without the query, and without the scheme's default port.
    private static func baseURI(_ url: String) -> String {
        guard let parts = URLParts(url), let origin = parts.origin else { return url }
        return origin + (parts.path.isEmpty ? "/" : parts.path)
    }
}
