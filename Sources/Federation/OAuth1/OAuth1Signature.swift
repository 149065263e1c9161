import Crypto
import Foundation

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
        var pairs: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String) {
            pairs.append((name: FormText.encode(name), value: FormText.encode(value)))
        }
        for (name, value) in FormText.pairs(URLParts(url)?.query ?? "") {
            add(FormText.decode(name, plusIsSpace: true), FormText.decode(value, plusIsSpace: true))
        }
        for (name, value) in parameters { add(name, value) }
        // Encoded text is ASCII, so its order is that of its bytes.
        pairs.sort { ($0.name, $0.value) < ($1.name, $1.value) }
        let normalized = pairs.map { $0.name + "=" + $0.value }.joined(separator: "&")
        let parts: [String] = [method.uppercased(), baseURI(url), normalized]
        return parts.map { FormText.encode($0) }.joined(separator: "&")
    }

    /// RFC 5849 §3.4.2, in base64.
    ///
    /// - Parameter tokenSecret: empty before there is a token.
    package static func hmacSHA1(_ baseString: String, clientSecret: String, tokenSecret: String) -> String {
        let key = FormText.encode(clientSecret) + "&" + FormText.encode(tokenSecret)
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: Data(baseString.utf8),
            using: SymmetricKey(data: Data(key.utf8))
        )
        return Data(code).base64EncodedString()
    }

    /// RFC 5849 §3.4.1.2: without the query, and without the scheme's default port.
    private static func baseURI(_ url: String) -> String {
        guard let parts = URLParts(url), let host = parts.host else { return url }
        let implied = ["http": 80, "https": 443][parts.scheme]
        let port = parts.port.flatMap { $0 == implied ? nil : ":\($0)" } ?? ""
        return parts.scheme + "://" + host + port + (parts.path.isEmpty ? "/" : parts.path)
    }
}
