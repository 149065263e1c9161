import Crypto
import Foundation
import StrictJSON
import Text

/// A signed request (RFC 5849 §3.1) as it arrived, nothing of it believed.
struct OAuth1Request {
    let request: RecordedRequest
    /// The parameters of the `Authorization` header, decoded, without `realm`.
    let parameters: [String: String]

    /// Nil without an `OAuth` header, and for one that names something twice or is no list of quoted values.
    init?(_ request: RecordedRequest) {
        guard let header = request.header("authorization"), header.hasPrefix("OAuth ") else { return nil }
        var parameters: [String: String] = [:]
        for part in header.dropFirst(6).split(separator: ",") {
            let halves = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[1].hasPrefix("\""), halves[1].hasSuffix("\""), halves[1].count >= 2,
                let name = PercentEncoding.decode(halves[0], plusIsSpace: true),
                let value = PercentEncoding.decode(halves[1].dropFirst().dropLast(), plusIsSpace: true),
                parameters.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        parameters["realm"] = nil
        self.request = request
        self.parameters = parameters
    }

    subscript(name: String) -> String? { parameters["oauth_" + name] }

    /// Whether the signature is the HMAC-SHA1 (RFC 5849 §3.4.2) of this very request.
    ///
    /// - Parameter origin: scheme, host and port of the server.
    func isSigned(origin: String, secret: String, tokenSecret: String) -> Bool {
        var pairs = FormFields(request.query).pairs
        if request.method == "POST" { pairs += FormFields(String(decoding: request.body, as: UTF8.self)).pairs }
        for (name, value) in parameters where name != "oauth_signature" { pairs.append((name: name, value: value)) }
        let sorted: [[String]] = pairs.map { [PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)] }
            .sorted { $0.lexicographicallyPrecedes($1) }
        let normalized = sorted.map { $0.joined(separator: "=") }.joined(separator: "&")
        let parts: [String] = [request.method, origin + request.path, normalized]
        let base = parts.map { PercentEncoding.encode($0) }.joined(separator: "&")
        let key = SymmetricKey(
            data: Data((PercentEncoding.encode(secret) + "&" + PercentEncoding.encode(tokenSecret)).utf8)
        )
        guard let signature = self["signature"].flatMap({ Data(base64Encoded: $0) }) else { return false }
        return HMAC<Insecure.SHA1>.isValidAuthenticationCode(signature, authenticating: Data(base.utf8), using: key)
    }
}
