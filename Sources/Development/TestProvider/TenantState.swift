import Foundation
import Secrets

/// A tenant's whole state; its endpoints are the extensions of this type.
struct TenantState {
    let name: String
    /// The name shown on the page.
    let title: String
    /// Base URL without a slash at the end.
    let base: String
    /// The base URL, unless the issuer must stay the same wherever the server runs.
    let issuer: String
    let personality: ProviderPersonality
    let now: @Sendable () -> Date
    let random: RandomSource

    var clients: [String: TestClient] = [:]
    var users: [String: TestUser] = [:]
    /// In insertion order, for the page.
    var userOrder: [String] = []
    /// Subjects of the users who are not the tenant's own: added on the page, or listed by ``list(_:)``.
    var guests: Set<String> = []
    var nextLogins: [ScriptedLogin] = []
    var everyLogin: ScriptedLogin?
    var keys: KeySet
    var faults = FaultPlan()
    private(set) var log: [RecordedRequest] = []
    /// Requests that were dropped from the front of the log.
    private var dropped = 0
    var violations: [Violation] = []

    var codes: [String: CodeGrant] = [:]
    var oauth1 = OAuth1State()
    var accessTokens: [String: TokenGrant] = [:]
    var refreshTokens: [String: TokenGrant] = [:]
    /// Refresh tokens already used, where each is single-use.
    var spentRefreshTokens: [String: TokenGrant] = [:]
    /// Scopes that a user has ever granted to an app.
    var consents: [Consent: Set<String>] = [:]

    struct Consent: Hashable {
        var subject: String
        var client: String
    }

    /// The grant behind a code.
    struct CodeGrant {
        var client: String
        var user: TestUser
        /// The path of the authorization request, whose tenant the token request must use too; nil for any.
        var path: String?
        /// As sent to the authorization endpoint; nil when it was left out there.
        var redirectURI: String?
        var scopes: [String]
        var nonce: String?
        var challenge: String?
        var authenticatedAt: Date
        var sendsAuthenticationTime: Bool
        var issuesRefreshToken: Bool
        var idToken: IDTokenChanges
        var expiresAt: Date
        var isUsed = false
        /// Tokens issued for the code, which become invalid when it is used again (RFC 6749 §4.1.2).
        var tokens: [String] = []
    }

    struct TokenGrant {
        var client: String
        var user: TestUser
        var scopes: [String]
        /// Nil for no expiry.
        var expiresAt: Date?
    }

    init(
        name: String,
        title: String,
        base: String,
        issuer: String,
        personality: ProviderPersonality,
        now: @escaping @Sendable () -> Date,
        random: RandomSource
    ) {
        self.name = name
        self.title = title
        self.base = base
        self.issuer = issuer
        self.personality = personality
        self.now = now
        self.random = random
        self.keys = KeySet(prefix: name, kind: personality.signing)
    }

    /// The issuer in discovery and keys where it differs from ``issuer``; nil when it does not.
    var documentIssuer: String? { personality.documentIssuer.map { issuer + $0 } }

    func url(_ endpoint: ProviderEndpoint) -> String? {
        personality.url(endpoint, below: base)
    }

    mutating func addUser(_ user: TestUser) {
        if users.updateValue(user, forKey: user.subject) == nil { userOrder.append(user.subject) }
    }

    /// Lists other users beside the tenant's own.
    mutating func list(_ people: [TestUser]) {
        userOrder.removeAll(where: guests.contains)
        for subject in guests { users[subject] = nil }
        guests = []
        for user in people where users[user.subject] == nil {
            addUser(user)
            guests.insert(user.subject)
        }
    }

    mutating func violate(_ rule: Violation.Rule, _ endpoint: ProviderEndpoint, _ detail: String) {
        violations.append(Violation(endpoint: endpoint, rule: rule, detail: detail))
    }

    /// Puts a request into the log, which keeps the last few thousand, and returns its number.
    mutating func record(_ request: RecordedRequest) -> Int {
        if log.count >= 8_192 {
            log.removeFirst(4_096)
            dropped += 4_096
        }
        log.append(request)
        return dropped + log.count - 1
    }

    mutating func setStatus(_ status: Int, ofRequest number: Int) {
        guard log.indices.contains(number - dropped) else { return }
        log[number - dropped].status = status
    }

    /// An endpoint's response to a request, when no fault replaces it.
    mutating func answer(_ request: RecordedRequest) throws -> ProviderAnswer {
        if personality.isOAuth1 { return answerOAuth1(request) }
        return switch request.endpoint {
        case .discovery: ProviderAnswer(discoveryDocument())
        case .keys:
            ProviderAnswer(
                headers: [("Cache-Control", "public, max-age=3600")],
                try keys.document(issuer: documentIssuer)
            )
        case .publicKeys: ProviderAnswer(headers: [("Cache-Control", "public, max-age=3600")], try keys.pemMap())
        case .authorization: try authorize(request)
        case .token: try token(request)
        case .userinfo: userinfo(request)
        case .emails: emails(request)
        case .revocation: revoke(request)
        case .tokenCheck: checkToken(request)
        case .requestToken: ProviderAnswer(404, .empty)
        }
    }
}
