import Outbound
import StrictJSON

/// A token of OAuth 1.0a with its secret: a request token, or an access token.
package struct OAuth1Token: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package var token: String
    package var secret: String

    /// Reads `oauth_token` and `oauth_token_secret`; nil if one is missing or cannot be sent in a header.
    init?(_ answer: JSONObject) {
        guard let token = answer["oauth_token"]?.string, let secret = answer["oauth_token_secret"]?.string,
            TokenAnswer.isToken(token), TokenAnswer.isToken(secret)
        else { return nil }
        self.init(token: token, secret: secret)
    }

    init(token: String, secret: String) {
        self.token = token
        self.secret = secret
    }

    package var description: String { "<token>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
