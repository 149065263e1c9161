import Development
import Domain
import Foundation
import Projects
import Secrets
import Storage
import Testing
import TestKit
import Text

/// `identity.callback`: the redirect URI of a project beside others at the service's URL.
@Suite("A redirect URI of a project's own", .database, .testProvider)
struct OwnCallbackTests {
    typealias Kind = ProviderScene.Kind

    private static func redirect(_ page: OpenedPage) -> String? {
        URLParts(page.data["url"]?.string ?? "").flatMap { FormFields($0.query ?? "")["redirect_uri"] }
    }

    private static func own(_ scene: ProviderScene) -> String { "\(ProviderScene.handler)/\(scene.service.project.id)" }

    @Test(
        "providers redirect there, in the query, in the fragment and posted",
        arguments: [Kind.oidc, .apple, .yahooJapan]
    )
    func signsIn(_ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) {
            $0.service.settings.ownCallback = true
        } _: { scene in
            let page = try await scene.open(scene.parameters())
            #expect(Self.redirect(page) == scene.service.baseURL + Self.own(scene))
            let visit = try await scene.visit(page)
            let event = try await scene.comeBack(visit, cookie: page.cookie).event
            #expect(event?["urlResponse"]?.string?.hasPrefix(scene.service.baseURL + Self.own(scene)) == true)
            let signedIn = try await scene.signIn(with: event)
            signedIn.expectOK()
        }
    }

    @Test(
        "T-B3: a response that another project's client brought to another address goes to nobody's page",
        arguments: [(true, ""), (true, "/neighbour"), (false, "/own"), (false, "/neighbour")],
        [Kind.oidc, .apple]
    )
    func mixUp(_ place: (isOwn: Bool, path: String), _ kind: Kind) async throws {
        try await ProviderScene.runPages(kind) {
            $0.service.settings.ownCallback = place.isOwn
        } _: { scene in
            let page = try await scene.open(scene.parameters())
            var visit = try await scene.visit(page)
            let base = scene.service.baseURL
            let (there, elsewhere) = (
                try #require(Self.redirect(page)),
                base + (place.path == "/own" ? Self.own(scene) : ProviderScene.handler + place.path)
            )
            visit.url = visit.url.replacing(there, with: elsewhere)
            #expect(visit.url.hasPrefix(elsewhere))
            let result = try await scene.comeBack(visit, cookie: page.cookie)
            #expect(result.event == nil && result.code == "auth/invalid-credential", "\(result.reply)")
            #expect(scene.tenant.requests(.token).isEmpty)
        }
    }

    @Test("T-B3: a project may ask for its own, and only an admin of all projects takes it away again")
    func setting() async throws {
        try await TestService.run { service in
            let (_, token) = try await service.stores.configuration.createAdminCredential(
                name: "project",
                project: service.project.id,
                scopes: [.manageConfiguration],
                expiresAt: nil
            )
            func set(_ value: String, _ token: String) async throws -> Reply {
                let body: JSON = ["identity": ["callback": .string(value)]]
                return try await service.send(
                    "PATCH",
                    "/v2/projects/\(service.project.id)/config?updateMask=identity.callback",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: Array(body.text.utf8)
                )
            }
            try await set("own", token.reveal()).expectOK()
            let refused = try await set("shared", token.reveal())
            #expect(refused.status == 403, "\(refused)")
            #expect(try await service.admin("config", version: "v2")["identity"]?["callback"] == "own")
            let shared = try await set("shared", service.adminToken)
            #expect(shared["identity"]?["callback"] == "shared", "\(shared)")
        }
    }
}
