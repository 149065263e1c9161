import Development
import Foundation
import Projects
import Storage
import TestKit
import Testing

/// Linking counts as a sign-in: `beforeSignIn` is asked, and what it refuses is not linked.
@Suite("Blocking functions: links", .database, .testProvider)
struct BlockingFunctionLinkTests {
    /// What a signed-in user links.
    enum Path: String, CaseIterable, Sendable {
        case provider = "oidc.acme"
        case phone
        case emailLink

        func link(_ idToken: String?, _ scene: FunctionScene) async throws -> Reply {
            let service = scene.service
            switch self {
            case .provider: return try await service.signInWithIdP(postBody: try scene.adaAtAcme(), idToken: idToken)
            case .phone: return try await service.signInByPhone(PhoneScene.number, idToken: idToken)
            case .emailLink:
                let code = try await service.code(.emailSignIn, ["email": "ada@example.com"], to: "ada@example.com")
                return try await service.signInWithLink("ada@example.com", code, idToken: idToken)
            }
        }
    }

    private func run(_ body: @Sendable (FunctionScene, _ guest: Reply) async throws -> Void) async throws {
        try await FunctionScene.run({ $0.asksFunctionsAboutAll = false }) { scene in
            let guest = try await scene.service.call("accounts:signUp", [:])
            #expect(guest.status == 200 && scene.asked == [], "\(guest)")
            try await body(scene, guest)
        }
    }

    @Test("a link is asked about once, as the account that it makes", arguments: Path.allCases)
    func asks(_ path: Path) async throws {
        try await run { scene, guest in
            let reply = try await path.link(guest.idToken, scene)
            #expect(reply.status == 200 && reply.localID == guest.localID, "\(reply)")
            #expect(scene.asked == ["/sign-in"])
            let question = try await scene.question(to: "/sign-in")
            #expect(question["event_type"] == "beforeSignIn" && question["sub"]?.string == guest.localID)
            #expect(question["sign_in_method"]?.string == path.rawValue, "\(question)")
            let record = try #require(question["user_record"])
            switch path {
            case .provider:
                #expect(record["provider_data"]?[0]?["provider_id"] == "oidc.acme", "\(record)")
                #expect(question["raw_user_info"]?.string?.contains("ada@example.com") == true)
            case .phone: #expect(record["phone_number"]?.string == PhoneScene.number, "\(record)")
            case .emailLink: #expect(record["email"] == "ada@example.com" && record["email_verified"] == true)
            }
            #expect(record["metadata"]?["last_sign_in_time"]?.number != nil, "\(record)")
        }
    }

    @Test("a refused link leaves nothing, and works once the function allows it", arguments: Path.allCases)
    func refuses(_ path: Path) async throws {
        try await run { scene, guest in
            let before = (try await scene.written(), try await scene.service.account(guest.localID))
            scene.receiver.answer { _ in (403, "{}") }
            let refused = try await path.link(guest.idToken, scene)
            #expect(refused.code == "BLOCKING_FUNCTION_ERROR_RESPONSE", "\(refused)")
            #expect(try await scene.written() == before.0)
            #expect(try await scene.service.account(guest.localID) == before.1)
            scene.receiver.answer { _ in (200, "{}") }
            let linked = try await path.link(guest.idToken, scene)
            linked.expectOK()
        }
    }

    @Test("a function's changes are written with the link, and appear in its tokens", arguments: Path.allCases)
    func changes(_ path: Path) async throws {
        try await run { scene, guest in
            scene.receiver.answer { _ in
                (
                    200,
                    """
                    {"userRecord": {"updateMask": "displayName,customClaims,sessionClaims", "displayName": "Countess",
                        "customClaims": {"role": "reader"}, "sessionClaims": {"door": "side"}}}
                    """
                )
            }
            let reply = try await path.link(guest.idToken, scene)
            for reply in [reply, try await scene.service.refresh(reply.refreshToken)] {
                #expect(reply.claims["role"] == "reader" && reply.claims["door"] == "side", "\(reply.claims)")
                #expect(reply.claims["name"] == "Countess", "\(reply.claims)")
            }
            let account = try #require(try await scene.service.account(guest.localID))
            #expect(account["displayName"] == "Countess" && account["customAttributes"] == #"{"role":"reader"}"#)
        }
    }

    @Test("an account that a function disables at a link is disabled without the link", arguments: Path.allCases)
    func disables(_ path: Path) async throws {
        try await run { scene, guest in
            scene.receiver.answer { _ in
                (200, #"{"userRecord": {"updateMask": "disabled", "disabled": true}}"#)
            }
            try await path.link(guest.idToken, scene).expectRefused("USER_DISABLED")
            let account = try #require(try await scene.service.account(guest.localID))
            #expect(account["disabled"] == true && account["providerUserInfo"] == nil, "\(account)")
        }
    }

    @Test("an account that changed while the function ran is asked about again", arguments: Path.allCases)
    func changedMeanwhile(_ path: Path) async throws {
        try await run { scene, guest in
            let service = scene.service
            let first = Counter()
            scene.receiver.answer { _ in
                guard first.increment() == 1 else { return (200, "{}") }
                _ = try? await service.admin(
                    "accounts:update",
                    ["localId": JSON(guest.localID), "customAttributes": #"{"role":"admin's"}"#]
                )
                return (200, #"{"userRecord": {"updateMask": "customClaims", "customClaims": {"role": "old"}}}"#)
            }
            let reply = try await path.link(guest.idToken, scene)
            #expect(reply.status == 200 && reply.claims["role"] == "admin's", "\(reply)")
            #expect(scene.asked == ["/sign-in", "/sign-in"])
        }
    }

    @Test("a sign-in that links silently can be disabled too")
    func disablesSilentLink() async throws {
        try await FunctionScene.run({ _ in }) { scene in
            let user = try await scene.service.verifiedUser()
            scene.receiver.answer { _ in
                (200, #"{"userRecord": {"updateMask": "disabled", "disabled": true}}"#)
            }
            try await EntrancePath.provider.enter(scene).expectRefused("USER_DISABLED")
            let account = try #require(try await scene.service.account(user.localID))
            #expect(account["disabled"] == true && account["providerUserInfo"]?[1] == nil, "\(account)")
        }
    }
}
