package import Secrets
package import StrictJSON
import Text

/// What the claims of a DPoP proof must say (RFC 9449 §4.3); its signature and its first use are checked elsewhere.
package struct ProofOfPossession: Sendable {
    package var method: String
    /// Without query and fragment.
    package var url: String
    /// The access token that comes with it; nil at the token endpoint.
    package var accessToken: Secret?

    package init(method: String, url: String, accessToken: Secret? = nil) {
        self.method = method
        self.url = url
        self.accessToken = accessToken
    }

    /// How old a proof may be, in seconds: it is accepted once within that time.
    package static let lifetime: Int64 = 300
    /// How far the client's clock may be ahead, in seconds.
    private static let skew: Int64 = 60

    /// - Parameter now: seconds since 1970.
    /// - Returns: whether they do.
    package func accepts(_ claims: JSONObject, now: Int64) -> Bool {
        guard claims["htm"]?.string == method, let target = claims["htu"]?.string, isURL(target),
            let id = claims["jti"]?.string,
            (1...256).contains(id.utf8.count), let issuedAt = claims["iat"]?.numericDate,
            issuedAt <= now + Self.skew, now < issuedAt + Self.lifetime
        else { return false }
        guard let accessToken else { return true }
        return claims["ath"]?.string == Base64URL.encode(SecureHash.sha256(accessToken.reveal()))
    }

    /// Compares in the normal form, as RFC 9449 §4.3 recommends, because clients write the URL as they please.
    private func isURL(_ target: String) -> Bool {
        guard let asked = URLParts(String(target.prefix { $0 != "?" && $0 != "#" })), let own = URLParts(url) else {
            return false
        }
        return asked.normalForm == own.normalForm
    }
}
