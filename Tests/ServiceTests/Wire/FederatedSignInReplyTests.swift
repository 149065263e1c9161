import Accounts
import Domain
import Federation
import Foundation
import IdentityService
import Secrets
import StrictJSON
import Testing
import TestKit

@Suite("Answers of signInWithIdp")
struct FederatedSignInReplyTests {
    private let document: OpenAPIDocument

    init() throws { document = try OpenAPIDocument.ofRepository() }

    private func credential(
        email: String? = "ada@example.com",
        claim: Bool = true,
        tokens: ProviderTokens = ProviderTokens(idToken: "idp", accessToken: "access", expiresIn: 3599)
    ) -> FederatedCredential {
        FederatedCredential(
            identity: FederatedIdentity(
                provider: .google,
                subject: "1234",
                issuer: "https://accounts.google.com",
                email: email.flatMap { EmailAddress($0) },
                emailVerifiedClaim: claim,
                profile: Profile(displayName: "Ada", screenName: "ada")
            ),
            tokens: tokens,
            rawUserInfo: #"{"id":"1234"}"#,
            federatedID: "https://accounts.google.com/1234",
            nonce: "raw"
        )
    }

    private func account(email: String?, verified: Bool = false) -> Account {
        var account = Account(id: AccountID("u1"), validSince: 1, createdAt: Date(timeIntervalSince1970: 1))
        account.email = email.flatMap { EmailAddress($0) }
        account.emailVerified = verified
        return account
    }

    private let tokens = IssuedTokens(idToken: "id", refreshToken: Secret("refresh"))

    private func write(_ result: FederatedSignInResult) throws -> JSONValue {
        var json = JSONWriter()
        json.object { $0.federatedSignIn(result) }
        #expect(document.check(component: "SignInWithIdpResponse", json: json.text) == [])
        return try JSONValue(parsing: json.text)
    }

    @Test("signed in: tokens, the provider's tokens, and no mark that does not apply")
    func signedIn() throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .signedIn(
                    account(email: "ada@example.com", verified: true),
                    .signedIn(tokens),
                    isNewUser: false,
                    emailRecycled: false
                ),
                credential: credential(),
                context: "c"
            )
        )
        #expect(answer["idToken"]?.text == "id")
        #expect(answer["refreshToken"]?.text == "refresh")
        #expect(answer["expiresIn"]?.text == "3600")
        #expect(answer["oauthIdToken"]?.text == "idp")
        #expect(answer["oauthExpireIn"]?.number == 3599)
        #expect(answer["federatedId"]?.text == "https://accounts.google.com/1234")
        #expect(answer["rawUserInfo"]?.text == #"{"id":"1234"}"#)
        #expect(answer["screenName"]?.text == "ada")
        #expect(answer["nonce"]?.text == "raw")
        #expect(answer["context"]?.text == "c")
        for mark in [
            "isNewUser", "needConfirmation", "errorMessage", "emailRecycled", "pendingToken", "verifiedProvider",
        ] {
            #expect(answer[mark] == nil, "\(mark)")
        }
    }

    @Test("signed up, and recycled")
    func marks() throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .signedIn(account(email: nil), .signedIn(tokens), isNewUser: true, emailRecycled: true),
                credential: credential()
            )
        )
        #expect(answer["isNewUser"]?.bool == true)
        #expect(answer["emailRecycled"]?.bool == true)
    }

    @Test("a conflict has the address, the provider and a pending token, and no tokens")
    func conflict() throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .needsConfirmation(account: AccountID("m"), providers: [.github]),
                credential: credential(),
                pendingToken: Secret("pending")
            )
        )
        #expect(answer["needConfirmation"]?.bool == true)
        #expect(answer["email"]?.text == "ada@example.com")
        #expect(answer["emailVerified"]?.bool == false)
        #expect(answer["localId"]?.text == "m")
        #expect(answer["verifiedProvider"]?.elements.map(\.text) == ["github.com"])
        #expect(answer["pendingToken"]?.text == "pending")
        for mark in ["idToken", "refreshToken", "expiresIn", "errorMessage"] { #expect(answer[mark] == nil) }
    }

    @Test(
        "a conflict hides whose address it is when the caller may not learn it",
        arguments: [nil, []] as [[ProviderID]?]
    )
    func hiddenConflict(_ providers: [ProviderID]?) throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .needsConfirmation(account: nil, providers: providers),
                credential: credential(),
                pendingToken: Secret("pending")
            )
        )
        #expect(answer["localId"] == nil)
        #expect(answer["verifiedProvider"] == nil)
    }

    @Test(
        "a refused link has its code, and neither account nor tokens",
        arguments: [
            (.identityLinkedToAnotherAccount, "FEDERATED_USER_ID_ALREADY_LINKED"),
            (.emailExists, "EMAIL_EXISTS"),
        ] as [(LinkDecision.Refusal, String)]
    )
    func refusedLink(_ refusal: LinkDecision.Refusal, _ code: String) throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .linkRefused(refusal),
                credential: credential(),
                pendingToken: Secret("pending")
            )
        )
        #expect(answer["errorMessage"]?.text == code)
        #expect(answer["pendingToken"]?.text == "pending")
        for mark in ["localId", "idToken", "refreshToken", "needConfirmation"] { #expect(answer[mark] == nil) }
    }

    @Test("sends no pending token without a token of the provider beside it")
    func noBarePendingToken() throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .needsConfirmation(account: nil, providers: nil),
                credential: credential(tokens: ProviderTokens(refreshToken: "r")),
                pendingToken: Secret("pending")
            )
        )
        #expect(answer["pendingToken"] == nil)
    }

    @Test(
        "emailVerified follows the account whose address it is, else the provider's claim",
        arguments: [
            ("ada@example.com", "ada@example.com", true, false, true),
            ("ada@example.com", "ada@example.com", false, true, false),
            ("Ada@Example.com", "ada@example.com", true, false, true),
            ("ada@example.com", "other@example.com", false, true, true),
            ("ada@example.com", nil, true, false, false),
            (nil, "ada@example.com", true, true, false),
        ] as [(String?, String?, Bool, Bool, Bool)]
    )
    func emailVerified(_ email: String?, _ own: String?, _ verified: Bool, _ claim: Bool, _ expected: Bool) throws {
        let answer = try write(
            FederatedSignInResult(
                outcome: .signedIn(
                    account(email: own, verified: verified),
                    .signedIn(tokens),
                    isNewUser: false,
                    emailRecycled: false
                ),
                credential: credential(email: email, claim: claim)
            )
        )
        #expect(answer["emailVerified"]?.bool == expected)
        #expect(answer["email"]?.text == email?.lowercased())
    }
}
