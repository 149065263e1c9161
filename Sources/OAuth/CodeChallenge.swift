import Secrets
import Text

/// PKCE's challenge (RFC 7636): only S256, because `plain` would reveal the verifier itself (T-B5).
package enum CodeChallenge {
    package static func isValid(_ text: String) -> Bool {
        text.utf8.count == 43 && Base64URL.decode(text)?.count == 32
    }

    /// - Parameter verifier: 43 to 128 unreserved characters; nil for any other.
    package static func of(_ verifier: some StringProtocol) -> String? {
        let verifier = String(verifier)
        guard verifier.consists(of: .unreserved), (43...128).contains(verifier.utf8.count) else { return nil }
        return Base64URL.encode(SecureHash.sha256(verifier))
    }
}
