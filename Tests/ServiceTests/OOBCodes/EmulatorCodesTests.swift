import Projects
import Storage
import TestKit
import Testing

@Suite("The emulator's list of codes", .database, .serialized)
struct EmulatorCodesTests {
    private func run(_ body: @Sendable (TestService, _ path: String) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            try await body(service, "/emulator/v1/projects/\(service.project.id)")
        }
    }

    @Test("holds each code that is good for something, with its link to the service itself")
    func listsCodes() async throws {
        try await run { service, path in
            #expect(try await service.send("GET", "\(path)/oobCodes").json == ["oobCodes": []])
            let user = try await service.signUp("ada@example.com")
            _ = try await service.sendCode(.passwordReset, ["email": "ada@example.com"])
            _ = try await service.sendCode(.emailSignIn, ["email": "new@example.com"])
            _ = try await service.sendCode(
                .verifyAndChangeEmail,
                ["idToken": JSON(user.idToken), "newEmail": "ada@example.net", "continueUrl": "http://127.0.0.1:3000/"]
            )
            let codes = try await service.send("GET", "\(path)/oobCodes")["oobCodes"]?.array ?? []
            #expect(codes.count == 3, "\(codes)")
            for code in codes {
                let text = code["oobCode"]?.string ?? ""
                let link = code["oobLink"]?.string ?? ""
                #expect(link.hasPrefix("\(service.baseURL)/emulator/action?mode="), "\(link)")
                #expect(text.count == 43 && link.contains("&oobCode=\(text)&apiKey=\(service.apiKey)"), "\(link)")
            }
            let change = try #require(codes.first { $0["requestType"] == "VERIFY_AND_CHANGE_EMAIL" })
            #expect(change["email"] == "ada@example.com" && change["newEmail"] == "ada@example.net")
            let link = try #require(codes.first { $0["requestType"] == "EMAIL_SIGNIN" })
            let signedIn = try await service.signInWithLink("new@example.com", link["oobCode"]?.string ?? "")
            #expect(signedIn["isNewUser"] == true, "\(signedIn)")
            let left = try await service.send("GET", "\(path)/oobCodes")["oobCodes"]?.array ?? []
            #expect(Set(left.map { $0["requestType"]?.string }) == ["PASSWORD_RESET", "VERIFY_AND_CHANGE_EMAIL"])
            try await service.send("DELETE", "\(path)/accounts").expectOK()
            #expect(try await service.send("GET", "\(path)/oobCodes").json == ["oobCodes": []])
            try await service.inspect(change["oobCode"]?.string ?? "").expectRefused("INVALID_OOB_CODE")
        }
    }
}
