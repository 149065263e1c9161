import Development
import Projects
import Sessions
import Storage
import TestKit
import Testing

/// What clients keep for us and bring back.
@Suite("What clients hold", .database, .testProvider, .serialized)
struct ClientBlobTests {
    private struct Blob: Sendable {
        var name: String
        var text: String
        /// Another one of the same kind, of somebody else.
        var other: String
        /// Whether a changed one says nothing else.
        var isSame: @Sendable (String) -> Bool = { _ in false }
        /// Whether it is good, for whoever it was given to.
        var redeem: @Sendable (String) async throws -> Bool
    }

    @Test("T-D14: values returned by the client are accepted only unchanged, and decide nothing by themselves")
    func refusesWhatWasChanged() async throws {
        try await LinkingWorld.run({
            $0.phone.isEnabled = true
            $0.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
            $0.allowsEmailLink = true
            $0.offerApps()
        }) { world in
            for blob in try await blobs(world) {
                for changed in Self.changes(of: blob.text, blob.other) where !blob.isSame(changed) {
                    #expect(try await !blob.redeem(changed), "\(blob.name): \(changed)")
                }
                // Nothing of that used it up.
                #expect(try await blob.redeem(blob.text), "\(blob.name)")
            }
        }
    }

    /// Two dozen places changed, cut short, lengthened, in other letters, put together with another one.
    private static func changes(of text: String, _ other: String) -> [String] {
        let letters = Array(text)
        var changes: [String] = ["", text + "A", text + "=", " " + text, text.lowercased(), text.uppercased()]
        for place in stride(from: 0, to: letters.count, by: max(1, letters.count / 24)) {
            var changed = letters
            changed[place] = letters[place] == "A" ? "B" : "A"
            changes.append(String(changed))
        }
        for part in 1..<4 {
            let cut = letters.count * part / 4
            changes.append(String(letters[..<cut]))
            changes.append(String(letters[..<cut]) + String(other.dropFirst(cut)))
            changes.append(String(other.prefix(cut)) + String(letters[cut...]))
        }
        return changes.filter { $0 != text && $0 != other }
    }

    private func blobs(_ world: LinkingWorld) async throws -> [Blob] {
        let service = world.service
        let ada = try await service.verifiedUser("ada@example.com")
        let grace = try await service.verifiedUser("grace@example.com")
        return [
            try refreshToken(service, ada, grace),
            Blob(name: "ID token", text: try #require(ada.idToken), other: try #require(grace.idToken)) {
                try await service.lookUp($0).status == 200
            },
            try await pending(world, ada), try await flow(world), try await page(service),
            try await code(service), try await phone(service), try await secondFactor(service),
        ]
    }

    private func refreshToken(_ service: TestService, _ ada: Reply, _ grace: Reply) throws -> Blob {
        let text = try #require(ada.refreshToken)
        let token = try #require(RefreshToken(text))
        return Blob(
            name: "refresh token",
            text: text,
            other: try #require(grace.refreshToken),
            // Its proof and generation are looked at only if the secret is not the current one.
            isSame: { changed in
                guard let changed = RefreshToken(changed) else { return false }
                return changed.session == token.session && changed.account == token.account
                    && changed.projectNumber == token.projectNumber && changed.secretHash == token.secretHash
            },
            redeem: { try await service.refresh($0).localIDOfRefresh == ada.localID }
        )
    }

    private func pending(_ world: LinkingWorld, _ ada: Reply) async throws -> Blob {
        let conflict = try await world.github(world.githubPerson("7001", email: "ada@example.com"))
        let other = try await world.github(world.githubPerson("7002", email: "grace@example.com"))
        return Blob(
            name: "pendingToken",
            text: try #require(conflict.pendingToken),
            other: try #require(other.pendingToken)
        ) { try await world.resume($0, idToken: ada.idToken).localID == ada.localID }
    }

    /// The session of a flow, whose state is in the callback.
    private func flow(_ world: LinkingWorld) async throws -> Blob {
        let service = world.service
        let flow = try await service.startFlow(through: LinkingWorld.acmeID)
        let other = try await service.startFlow(through: LinkingWorld.acmeID)
        world.acme.nextLogin(world.person("flow", email: "flow@example.com"))
        let visit = try await ScriptedBrowser().open(flow.authURI, until: ["http://localhost/callback"])
        return Blob(name: "sessionId", text: flow.sessionID, other: other.sessionID) {
            try await service.finishFlow(at: visit.url, sessionID: $0).status == 200
        }
    }

    private func page(_ service: TestService) async throws -> Blob {
        @Sendable func page(_ token: String?) async throws -> Reply {
            try await service.admin("accounts:query", ["pageToken": JSON(token), "pageSize": 1])
        }
        let first = try #require(try await page(nil)["nextPageToken"]?.string)
        let second = try #require(try await page(first)["nextPageToken"]?.string)
        return Blob(name: "pageToken", text: first, other: second) {
            // Without one it is the first page.
            if $0.isEmpty { return false }
            return try await page($0).status == 200
        }
    }

    private func code(_ service: TestService) async throws -> Blob {
        func code(_ email: String) async throws -> String {
            try await service.code(.passwordReset, ["email": .string(email)], to: email)
        }
        return Blob(
            name: "oobCode",
            text: try await code("ada@example.com"),
            other: try await code("grace@example.com")
        ) {
            try await service.call("accounts:resetPassword", ["oobCode": .string($0)]).status == 200
        }
    }

    private func phone(_ service: TestService) async throws -> Blob {
        let sent = try await service.code(to: PhoneScene.number)
        let other = try await service.code(to: PhoneScene.other)
        return Blob(name: "sessionInfo", text: sent.session, other: other.session) {
            try await service.signInByPhone(["sessionInfo": .string($0), "code": .string(sent.code)]).status == 200
        }
    }

    private func secondFactor(_ service: TestService) async throws -> Blob {
        var apps: [AuthenticatorApp] = []
        var challenges: [String] = []
        for email in ["hedy@example.com", "joan@example.com"] {
            let user = try await service.verifiedUser(email)
            apps.append(try await AuthenticatorApp.enroll(user.idToken, service).app)
            let challenge = try await service.signInWithPassword(email)
            challenges.append(try #require(challenge["mfaPendingCredential"]?.string, "\(challenge)"))
        }
        let app = apps[0]
        service.clock.advance(by: 30)
        return Blob(name: "mfaPendingCredential", text: challenges[0], other: challenges[1]) {
            try await app.signIn($0, code: app.code()).status == 200
        }
    }
}

extension Reply {
    fileprivate var localIDOfRefresh: String? { json["user_id"]?.string }
}
