import OAuth
import Projects
import Secrets
import Sessions
import Storage

/// What an application exchanges for its tokens: it names its session's row, as refresh tokens do.
///
/// The row stores a hash of its secret and of the challenge together, so that only the verifier's owner has a use for it
/// (RFC 7636), and a stolen code cannot even be used up.
struct AuthorizationCode {
    /// The lifetime in seconds (OAuth 2.1 §4.1.2 recommends a short one).
    static let lifetime = 60.0

    private let token: RefreshToken

    init(_ token: RefreshToken) { self.token = token }

    init?(_ text: Secret) {
        guard let token = RefreshToken(text.reveal()) else { return nil }
        self.token = token
    }

    var text: String { token.text }

    func key(_ caller: Caller) -> SessionKey? {
        guard token.projectNumber == caller.project.number else { return nil }
        return SessionKey(project: caller.project.id, account: token.account, session: token.session)
    }

    func hash(challenge: String) -> [UInt8] { SecureHash.sha256("code.\(token.secret.reveal()).\(challenge)") }
}
