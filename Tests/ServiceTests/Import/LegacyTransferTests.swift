import Projects
import Secrets
import Storage
import TestKit
import Testing

@Suite("uploadAccount and downloadAccount of v3", .database)
struct LegacyTransferTests {
    private static let prefixes = ["", "/www.googleapis.com"]

    private func send(
        _ method: String,
        _ body: JSON,
        to service: TestService,
        prefix: String = "",
        query: String = "",
        token: String? = nil
    ) async throws -> Reply {
        try await service.send(
            "POST",
            "\(prefix)/identitytoolkit/v3/relyingparty/\(method)\(query)",
            headers: [("Content-Type", "application/json")]
                + [("Authorization", "Bearer \(token ?? service.adminToken)")],
            body: Array(body.text.utf8)
        )
    }

    @Test("do as batchCreate and batchGet in the project that the body names")
    func transfers() async throws {
        try await TestService.run { service in
            let project = JSON.string(service.project.id.rawValue)
            for (index, prefix) in Self.prefixes.enumerated() {
                let users: [JSON] = (0..<3).map { ["localId": .string("\(index)-\($0)"), "email": "not one"] }
                let refused = try await send(
                    "uploadAccount",
                    ["targetProjectId": project, "users": .array(users)],
                    to: service,
                    prefix: prefix
                )
                #expect(refused["error"]?[2]?["message"] == "email is invalid", "\(refused)")
                let good: [JSON] = (0..<3).map {
                    ["localId": .string("\(index)-\($0)"), "rawPassword": "correct horse"]
                }
                let body: JSON = ["targetProjectId": project, "users": .array(good)]
                let uploaded = try await send("uploadAccount", body, to: service, prefix: prefix)
                #expect(uploaded.json == ["kind": "identitytoolkit#UploadAccountResponse"], "\(uploaded)")
            }
            var token: String?
            for (size, prefix) in [(4, ""), ("4", "/www.googleapis.com")] as [(JSON, String)] {
                let body: JSON = ["targetProjectId": project, "maxResults": size, "nextPageToken": JSON(token)]
                let page = try await send("downloadAccount", body, to: service, prefix: prefix)
                let query = "accounts:batchGet?maxResults=4&nextPageToken=\(token ?? "")"
                let same = try await service.admin(query)
                #expect(page.json == same.json, "\(page)")
                token = page["nextPageToken"]?.string
                #expect((token != nil) == prefix.isEmpty)
            }
            let byKey = try await send("downloadAccount", [:], to: service, query: "?key=\(service.apiKey)")
            #expect(byKey["users"]?.array?.count == 6, "\(byKey)")
        }
    }

    @Test("refuse a call without a project, another credential's project, and a size that is none")
    func refuses() async throws {
        try await TestService.run { service in
            let project = JSON.string(service.project.id.rawValue)
            for method in ["uploadAccount", "downloadAccount"] {
                try await send(method, [:], to: service).expectRefused("INSUFFICIENT_PERMISSION")
                let unknown = try await send(method, ["targetProjectId": "no-such-project"], to: service)
                #expect(unknown.status == 404, "\(unknown)")
                let nobody = try await send(method, ["targetProjectId": project], to: service, token: "nonsense")
                #expect(nobody.status == 401, "\(nobody)")
            }
            try await send("uploadAccount", ["targetProjectId": project], to: service)
                .expectRefused("MISSING_USER_ACCOUNT")
            try await send("downloadAccount", ["targetProjectId": project, "maxResults": -1], to: service)
                .expectRefused("INVALID_PAGE_SELECTION")
            let (_, reader) = try await service.stores.configuration.createAdminCredential(
                name: "reader",
                project: service.project.id,
                scopes: [.readAccounts],
                expiresAt: nil
            )
            let body: JSON = ["targetProjectId": project, "users": [["localId": "x"]]]
            let upload = try await send("uploadAccount", body, to: service, token: reader.reveal())
            #expect(upload.status == 403, "\(upload)")
            try await service.admin("accounts", ["localId": "ada", "password": "correct horse"])
            let download = try await send("downloadAccount", body, to: service, token: reader.reveal())
            #expect(download["users"]?[0]?["passwordHash"] == "UkVEQUNURUQ=", "\(download)")
            try await TestService.run { other in
                let theirs: JSON = ["targetProjectId": .string(other.project.id.rawValue)]
                let refused = try await send("downloadAccount", theirs, to: service, token: reader.reveal())
                #expect(refused.status == 403, "\(refused)")
            }
        }
    }

    @Test("T-D11: the emulator's readable hashes are passwords in identity dev, and no hashes anywhere else")
    func readableHashes() async throws {
        let user: JSON = [
            "localId": "ada", "email": "ada@example.com",
            "passwordHash": "fakeHash:salt=fakeSaltABC:password=correct:password=horse", "salt": "fakeSaltABC",
        ]
        var options = TestService.Options()
        options.development = true
        try await TestService.run(options) { service in
            let uploaded = try await service.admin("accounts:batchCreate", ["users": [user]])
            #expect(uploaded.json == ["kind": "identitytoolkit#UploadAccountResponse"], "\(uploaded)")
            try await service.signInWithPassword("ada@example.com", "correct:password=horse").expectOK()
            #expect(try await service.signInWithPassword("ada@example.com", "horse").status == 400)
            let hash = try await service.admin("accounts:batchGet")["users"]?[0]?["passwordHash"]?.string
            #expect(hash?.utf8.count == 88, "the password itself is nowhere")
        }
        try await TestService.run { service in
            let refused = try await service.admin("accounts:batchCreate", ["users": [user]])
            #expect(refused.status == 400 && refused.error?.contains("TYPE_BYTES") == true, "\(refused)")
            #expect(try await service.account("ada") == nil)
        }
    }
}
