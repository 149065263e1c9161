import Development
import Synchronization
import TestKit
import Text

/// What was secret in a test, kept to look for it in the log.
final class SecretBook: Sendable {
    private let texts = Mutex<Set<String>>([])

    /// Too short a text would be found by chance.
    var all: [String] { texts.withLock { $0.filter { $0.count >= 8 } } }

    func add(_ secrets: String?...) {
        texts.withLock { $0.formUnion(secrets.compactMap(\.self)) }
    }

    func add(from reply: Reply) {
        let names = [
            "idToken", "refreshToken", "oauthAccessToken", "oauthIdToken", "oauthRefreshToken", "pendingToken",
            "oauthTokenSecret", "sessionId", "state", "nonce",
        ]
        for name in names { add(reply[name]?.string) }
    }

    /// What the provider was sent.
    func add(from requests: [RecordedRequest]) {
        for request in requests {
            let names = ["code", "state", "nonce", "code_verifier", "client_secret", "refresh_token", "token"]
            for name in names { add(request.fields[name]) }
            add(request.header("authorization")?.split(separator: " ").last.map { String($0) })
        }
    }
}
