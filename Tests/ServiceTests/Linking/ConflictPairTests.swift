import Development
import Domain
import StrictJSON
import Testing
import TestKit
import Text

/// The whole recovery from a conflict, for each pair of an account's way in and another provider with its address.
@Suite("A conflict and its resolution, for each pair of providers", .database, .testProvider)
struct ConflictPairTests {
    typealias Holder = ConflictScene.Holder
    typealias Kind = ProviderScene.Kind

    /// All pairs in one scene: two services and the providers cost more than the pairs of one holder.
    private static let pairs = Holder.allCases.flatMap { holder in holder.newcomers.map { (holder, $0) } }

    @Test("R-35, R-36, R-37: by the pending token")
    func byPendingToken() async throws {
        try await ConflictScene.run { scene in
            let stranger = try await scene.second.signUp("stranger@example.com")
            var redeemed: [String?] = []
            for (holder, newcomer) in Self.pairs {
                let pair = try await Pair(holder, newcomer, in: scene)
                let conflict = try await pair.conflict()
                let token = conflict.pendingToken
                try await pair.resolve(conflict, bystander: stranger) { idToken in
                    try await scene.second.call(
                        "accounts:signInWithIdp",
                        [
                            "requestUri": "http://localhost", "pendingToken": JSON(token), "idToken": JSON(idToken),
                            "returnSecureToken": true, "returnIdpCredential": true,
                        ]
                    )
                }
                redeemed.append(token)
            }
            // Its minute over, nothing comes of it for anybody.
            scene.first.clock.advance(by: 61)
            for token in redeemed {
                try await scene.second.call(
                    "accounts:signInWithIdp",
                    ["requestUri": "http://localhost", "pendingToken": JSON(token), "returnSecureToken": true]
                ).expectRefused("INVALID_PENDING_TOKEN")
            }
        }
    }

    /// Web SDKs hand these providers' own tokens in, whatever `pendingToken` says.
    static let bare = Kind.allCases.filter {
        ["google.com", "github.com", "facebook.com", "twitter.com"].contains($0.rawValue)
    }

    @Test("R-37: by the provider's bare tokens, which need neither a nonce nor a question to the provider")
    func byBareTokens() async throws {
        try await ConflictScene.run { scene in
            let stranger = try await scene.second.signUp("stranger@example.com")
            for (holder, newcomer) in Self.pairs where Self.bare.contains(newcomer) {
                let pair = try await Pair(holder, newcomer, in: scene)
                let conflict = try await pair.conflict()
                let postBody = Self.postBody(of: conflict, newcomer)
                try await pair.resolve(conflict, bystander: stranger) { idToken in
                    try await scene.second.signInWithIdP(postBody: postBody, idToken: idToken)
                }
            }
        }
    }

    /// What `credentialFromError` and `linkWithCredential` of the web SDK make of an answer.
    private static func postBody(of conflict: Reply, _ kind: Kind) -> String {
        let members = [
            ("id_token", "oauthIdToken"), ("access_token", "oauthAccessToken"),
            ("oauth_token_secret", "oauthTokenSecret"),
        ]
        let tokens = members.compactMap { field, member in conflict[member]?.string.map { (field, $0) } }
        return FormFields(pairs: tokens + [("providerId", kind.rawValue)]).text
    }
}

/// Somebody with an account, and their identity at another provider with the same address.
private struct Pair {
    let scene: ConflictScene
    let holder: ConflictScene.Holder
    let newcomer: ProviderScene.Kind
    let email: String
    /// At the holding provider.
    private let owner: TestUser?
    private let other: TestUser
    private let account: String
    private let newcomerTenant: TestTenant

    init(_ holder: ConflictScene.Holder, _ newcomer: ProviderScene.Kind, in scene: ConflictScene) async throws {
        (self.scene, self.holder, self.newcomer) = (scene, holder, newcomer)
        let name = "\(holder.method)-\(newcomer.rawValue)"
        email = name + "@example.com"
        scene.keepTime()
        // Nobody else's, neither at the one provider nor at the other.
        let places = (
            ConflictScene.Holder.allCases.firstIndex(of: holder) ?? 0,
            ProviderScene.Kind.allCases.firstIndex(of: newcomer) ?? 0
        )
        let number = 10_000 + 100 * places.0 + places.1
        other = try scene.person(number, name, at: newcomer)
        newcomerTenant = try scene.provider(newcomer, at: scene.first).tenant
        let opened: Reply
        switch holder {
        case .password:
            owner = nil
            opened = try await scene.first.signUp(email)
            opened.expectOK()
        case .provider(let kind):
            let person = try scene.person(number, name, at: kind)
            owner = person
            opened = try await scene.signIn(person, kind, at: scene.first)
            opened.expectSignedIn(new: true)
        }
        account = try #require(opened.localID, "\(opened)")
    }

    /// the newcomer's sign-in, which says all that an app needs to go on.
    func conflict() async throws -> Reply {
        let conflict = try await scene.signIn(other, newcomer, at: scene.first)
        conflict.expectConflict(with: account, providers: holder.providers)
        #expect(conflict["email"] == .string(email))
        #expect(conflict["providerId"] == .string(newcomer.rawValue))
        // how its owner can go on.
        let methods = try await scene.first.call(
            "accounts:createAuthUri",
            ["identifier": .string(email), "continueUri": "http://localhost/"]
        )
        #expect(methods["registered"] == true)
        #expect(methods["signinMethods"] == [.string(holder.method)], "\(methods)")
        return conflict
    }

    /// the app has started anew and meets another node; its owner signs in as before, and links.
    ///
    /// - Parameter redeem: hands the credential in for the account of an ID token.
    func resolve(
        _ conflict: Reply,
        bystander: Reply,
        _ redeem: (_ idToken: String?) async throws -> Reply
    ) async throws {
        let user = try await signInAsBefore()
        user.expectSignedIn(as: account)
        let visits = newcomerTenant.requests().count
        // What fails does not end it.
        try await redeem("x").expectRefused("INVALID_ID_TOKEN")
        try await redeem(bystander.idToken).expectLinkRefused("EMAIL_EXISTS")
        let linked = try await redeem(user.idToken)
        linked.expectSignedIn(as: account)
        #expect(newcomerTenant.requests().count == visits, "\(email): the provider was asked again")
        for token in ["oauthIdToken", "oauthAccessToken", "oauthTokenSecret"] {
            #expect(linked[token] == conflict[token], "\(email): \(token)")
        }
        #expect(linked.claims["firebase"]?["sign_in_provider"] == .string(newcomer.rawValue))
        // What was redeemed is nobody else's any more.
        try await redeem(bystander.idToken).expectLinkRefused("FEDERATED_USER_ID_ALREADY_LINKED")
        let found = try await scene.second.account(account)
        #expect(found?.providers.sorted() == [holder.method, newcomer.rawValue].sorted(), "\(email)")
        #expect(found?["email"] == .string(email))
        try await scene.signIn(other, newcomer, at: scene.second).expectSignedIn(as: account)
    }

    private func signInAsBefore() async throws -> Reply {
        guard case .provider(let kind) = holder, let owner else {
            return try await scene.second.signInWithPassword(email)
        }
        return try await scene.signIn(owner, kind, at: scene.second)
    }
}
