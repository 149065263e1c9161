import Domain
import Foundation
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("accounts:merge", .database, .serialized, .timeLimit(.minutes(10)))
struct MergeTests {
    /// Ada with an address and GitHub, and again with Google, a phone and a password that has another address.
    private func people(_ service: TestService) async throws {
        try await service.upload(
            [
                "localId": "ada", "email": "ada@example.com", "emailVerified": true, "displayName": "Ada",
                "providerUserInfo": [["providerId": "github.com", "rawId": "g1"]], "customAttributes": #"{"role":"a"}"#,
            ],
            [
                "localId": "eda", "email": "eda@example.com", "emailVerified": true, "rawPassword": "correct horse",
                "displayName": "Eda", "photoUrl": "https://example.com/eda.png",
                "phoneNumber": .string(PhoneScene.number),
                "providerUserInfo": [["providerId": "google.com", "rawId": "o1"]], "customAttributes": #"{"role":"b"}"#,
            ]
        )
    }

    @Test("everything of the one account opens the other; a preview says the same before, and writes nothing")
    func merges() async throws {
        try await MergeScene.run { service in
            try await people(service)
            let before = try await (service.account("ada"), service.account("eda"))
            let preview = try await service.merge("eda", into: "ada", ["validateOnly": true])
            preview.expectOK()
            #expect(try await (service.account("ada"), service.account("eda")) == before)
            let merged = try await service.merge("eda", into: "ada")
            merged.expectOK()
            #expect(merged.json.without("mergeId", "undoableUntil") == preview.json)
            #expect(preview["mergeId"] == nil && preview["undoableUntil"] == nil)
            #expect(merged["movedProviders"] == ["google.com", "password", "phone"])
            #expect(merged["heldEmail"] == "eda@example.com" && merged["droppedProviders"] == nil)
            #expect(merged["mergedLocalId"] == "eda" && merged["droppedCustomAttributes"] == #"{"role":"b"}"#)
            let week = Int64((service.clock.current.timeIntervalSince1970 + 7 * 86_400) * 1000)
            #expect(merged["undoableUntil"]?.string == String(week))
            let user = try #require(merged["user"])
            #expect(try await service.account("ada") == user)
            #expect(user["localId"] == "ada" && user["email"] == "ada@example.com" && user["emailVerified"] == true)
            #expect(user["displayName"] == "Ada" && user["photoUrl"] == "https://example.com/eda.png")
            #expect(user["customAttributes"] == #"{"role":"a"}"#)
            #expect(user.providers == ["github.com", "google.com", "phone", "password"])
            #expect(try await service.identity("google.com", "o1").localID == "ada")
            #expect(try await service.identity("github.com", "g1").localID == "ada")
            #expect(try await service.signInByPhone(PhoneScene.number).localID == "ada")
            #expect(try await service.signInWithPassword("ada@example.com").localID == "ada")
            try await service.expectConsistentClaims()
        }
    }

    @Test("a value that both accounts have is a named conflict that stops the merge, until it is dropped")
    func conflicts() async throws {
        try await MergeScene.run { service in
            let both: JSON = ["emailVerified": true, "rawPassword": "correct horse"]
            try await service.upload(
                both.merging([
                    "localId": "ada", "email": "ada@example.com", "phoneNumber": .string(PhoneScene.number),
                    "providerUserInfo": [["providerId": "google.com", "rawId": "o1"]],
                ]),
                both.merging([
                    "localId": "eda", "email": "eda@example.com", "phoneNumber": .string(PhoneScene.other),
                    "emailLinkSignin": true,
                    "providerUserInfo": [
                        ["providerId": "google.com", "rawId": "o2"], ["providerId": "github.com", "rawId": "g2"],
                    ],
                ])
            )
            let before = try await (service.account("ada"), service.account("eda"))
            let preview = try await service.merge("eda", into: "ada", dropping: ["phone"], ["validateOnly": true])
            #expect(
                preview["conflicts"] == [
                    ["providerId": "emailLink", "reason": "otherAddress"],
                    ["providerId": "google.com", "reason": "alreadyLinked"],
                    ["providerId": "password", "reason": "alreadyLinked"],
                ]
            )
            #expect(preview["movedProviders"] == ["github.com"])
            #expect(preview["droppedProviders"] == ["emailLink", "google.com", "password", "phone"])
            let refused = try await service.merge("eda", into: "ada", dropping: ["phone"])
            refused.expectRefused("MERGE_CONFLICT : emailLink, google.com, password")
            #expect(try await (service.account("ada"), service.account("eda")) == before)
            let all = ["emailLink", "google.com", "password", "phone"]
            let merged = try await service.merge("eda", into: "ada", dropping: all)
            #expect(merged["droppedProviders"] == .array(all.map { .string($0) }) && merged["conflicts"] == nil)
            #expect(merged["user"]?.providers == ["github.com", "google.com", "phone", "password"])
            #expect(try await service.identity("google.com", "o1").localID == "ada")
            #expect(try await service.identity("github.com", "g2").localID == "ada")
            // What was given up opens nothing, and nobody else gets it for a week.
            try await service.identity("google.com", "o2").expectRefused("USER_DISABLED")
            try await service.signInByPhone(PhoneScene.other).expectRefused("USER_DISABLED")
            try await service.signInWithPassword("eda@example.com").expectRefused("USER_DISABLED")
            try await service.signUp("eda@example.com").expectRefused("EMAIL_EXISTS")
            try await service.expectConsistentClaims()
        }
    }

    @Test("T-A5: an address that comes along keeps its word on whether it is verified")
    func addressComesAlong() async throws {
        try await MergeScene.run { service in
            for (number, verified) in [false, true].enumerated() {
                let email = "eda\(number)@example.com"
                let github: JSON = [["providerId": "github.com", "rawId": .string("g\(number)")]]
                try await service.upload(
                    ["localId": .string("a\(number)"), "providerUserInfo": verified ? github : []],
                    [
                        "localId": .string("e\(number)"), "email": .string(email), "emailVerified": .bool(verified),
                        "rawPassword": "correct horse", "emailLinkSignin": .bool(verified),
                    ]
                )
                let merged = try await service.merge("e\(number)", into: "a\(number)")
                let methods: JSON = verified ? ["emailLink", "password"] : ["password"]
                #expect(merged["movedProviders"] == methods, "\(merged)")
                #expect(merged["user"]?["email"]?.string == email && merged["heldEmail"] == nil)
                #expect(merged["user"]?["emailVerified"] == .bool(verified))
                #expect(try await service.signInWithPassword(email).localID == "a\(number)")
            }
            try await service.expectConsistentClaims()
        }
    }

    @Test("T-A1: a password whose address nobody proved does not come to open an account whose address is proved")
    func unprovedPassword() async throws {
        try await MergeScene.run { service in
            let eve = try await service.signUp("eve@example.com", "eve's own password")
            try await service.upload(["localId": "ada", "email": "ada@example.com", "emailVerified": true])
            try await service.merge(eve.localID, into: "ada").expectRefused("MERGE_CONFLICT : password")
            let preview = try await service.merge(eve.localID, into: "ada", ["validateOnly": true])
            #expect(preview["conflicts"] == [["providerId": "password", "reason": "emailNotVerified"]])
            _ = try await service.merge(eve.localID, into: "ada", dropping: ["password"])
            let refused = try await service.signInWithPassword("ada@example.com", "eve's own password")
            refused.expectRefused("INVALID_PASSWORD")
            #expect(try await service.account("ada")?["emailVerified"] == true)
        }
    }

    @Test("T-A1: the merged account's former address leads no one to the surviving account")
    func heldAddress() async throws {
        try await MergeScene.run { service in
            let eve = try await service.signUp("eve@example.com")
            let verification = try await service.code(
                .verifyEmail,
                ["idToken": JSON(eve.idToken)],
                to: "eve@example.com"
            )
            let link = try await service.code(.emailSignIn, ["email": "eve@example.com"], to: "eve@example.com")
            let reset = try await service.code(.passwordReset, ["email": "eve@example.com"], to: "eve@example.com")
            try await service.upload([
                "localId": "ada", "email": "ada@example.com", "emailVerified": true, "rawPassword": "correct horse",
            ])
            let merged = try await service.merge(eve.localID, into: "ada", dropping: ["password"])
            #expect(merged["heldEmail"] == "eve@example.com", "\(merged)")
            for code in [verification, reset] { try await service.inspect(code).expectRefused("INVALID_OOB_CODE") }
            try await service.signInWithLink("eve@example.com", link).expectRefused("INVALID_OOB_CODE")
            try await service.sendCode(.emailSignIn, ["email": "eve@example.com"]).expectRefused("USER_DISABLED")
            let later = try await service.code(.passwordReset, ["email": "eve@example.com"], to: "eve@example.com")
            try await service.reset(later, to: "another password").expectRefused("INVALID_OOB_CODE")
            // A provider that proves the address, and one that does not.
            let proof = MergeScene.identity("google.com", "e1", email: "eve@example.com")
            try await service.signInWithIdP(postBody: proof).expectRefused("USER_DISABLED")
            let ada = try await service.account("ada")
            #expect(ada?["emailVerified"] == true && ada?.providers == ["password"])
            #expect(try await service.admin("accounts:lookup", ["email": ["eve@example.com"]])["users"] == nil)
        }
    }

    @Test("the sessions of the account that goes end at once, those of the other one stay")
    func sessions() async throws {
        try await MergeScene.run { service in
            let ada = try await service.signUp("ada@example.com")
            let guest = try await service.call("accounts:signUp")
            let merged = try await service.merge(guest.localID, into: ada.localID)
            merged.expectOK()
            try await service.lookUp(guest.idToken).expectRefused("USER_NOT_FOUND")
            #expect(try await service.refresh(guest.refreshToken).error == "USER_NOT_FOUND")
            let update: JSON = ["idToken": JSON(guest.idToken), "displayName": "x"]
            try await service.call("accounts:update", update).expectRefused("USER_NOT_FOUND")
            try await service.lookUp(ada.idToken).expectOK()
            try await service.refresh(ada.refreshToken).expectOK()
            _ = try await service.undo(merged)
            try await service.lookUp(guest.idToken).expectRefused("TOKEN_EXPIRED")
            #expect(try await service.refresh(guest.refreshToken).error == "TOKEN_EXPIRED")
        }
    }

    @Test("second factors come along with their secrets; those that do not fit are a conflict")
    func secondFactors() async throws {
        try await MergeScene.run { service in
            let ada = try await service.verifiedUser()
            let (app, enrolled) = try await AuthenticatorApp.enroll(ada.idToken, service)
            enrolled.expectOK()
            let factor: JSON = ["mfaEnrollmentId": "own", "phoneInfo": .string(PhoneScene.other), "displayName": "Own"]
            try await service.upload(
                [
                    "localId": "eda", "email": "eda@example.com", "emailVerified": true,
                    "providerUserInfo": [["providerId": "google.com", "rawId": "o1"]], "mfaInfo": [factor],
                ],
                ["localId": "phone", "phoneNumber": .string(PhoneScene.number)],
            )
            // A phone opens no account that has second factors.
            try await service.merge("phone", into: "eda").expectRefused("MERGE_CONFLICT : phone")
            try await service.merge("eda", into: "phone").expectRefused("MERGE_CONFLICT : mfa")
            let merged = try await service.merge(ada.localID, into: "eda")
            #expect(merged["movedSecondFactors"] == [.string(app.enrollment)], "\(merged)")
            #expect(merged["user"]?["mfaInfo"]?.array?.count == 2)
            let challenge = try await service.identity("google.com", "o1")
            let signedIn = try await app.signIn(challenge)
            signedIn.expectSecondFactor(app.enrollment, provider: "google.com", of: "eda")
            let used = app.code()
            let undone = try await service.undo(merged)
            #expect(undone["leftProviders"] == nil, "\(undone)")
            #expect(undone["user"]?["mfaInfo"]?.array?.count == 1)
            // The code that was taken meanwhile is not taken again.
            let pending = try await service.signInWithPassword("ada@example.com")["mfaPendingCredential"]?.string
            try await app.signIn(pending, code: used).expectRefused("INVALID_CODE")
            let again = try await app.signIn(try await service.signInWithPassword("ada@example.com"))
            again.expectSecondFactor(app.enrollment, provider: "password", of: ada.localID)
        }
    }

    @Test(
        "bad input has its codes",
        arguments: [
            ([:], "MISSING_LOCAL_ID"), (["localId": "ada"], "MISSING_LOCAL_ID"),
            (["localId": "", "mergedLocalId": "eda"], "MISSING_LOCAL_ID"),
            (["localId": "ada", "mergedLocalId": "ada"], "INVALID_ARGUMENT"),
            (["localId": "ada", "mergedLocalId": "nobody"], "USER_NOT_FOUND"),
            (["localId": "nobody", "mergedLocalId": "eda"], "USER_NOT_FOUND"),
            (["localId": "ada", "mergedLocalId": "gone"], "USER_DISABLED"),
            (["localId": "gone", "mergedLocalId": "ada"], "USER_DISABLED"),
            (["localId": ["ada"], "mergedLocalId": "eda"], "Invalid"),
            (["localId": "ada", "mergedLocalId": "eda", "dropProviders": 1], "Invalid"),
            (["localId": "ada", "mergedLocalId": "eda", "validateOnly": "perhaps"], "Invalid"),
        ] as [(JSON, String)]
    )
    func badInput(_ body: JSON, _ code: String) async throws {
        try await MergeScene.run { service in
            try await people(service)
            try await service.upload(["localId": "gone", "disabled": true])
            let before = try await (service.account("ada"), service.account("eda"))
            let variants: [JSON] = body["validateOnly"] == nil ? [[:], ["validateOnly": true]] : [[:]]
            for more in variants {
                let reply = try await service.admin("accounts:merge", body.merging(more))
                #expect(reply.status == 400 && reply.code == code, "\(reply)")
            }
            #expect(try await (service.account("ada"), service.account("eda")) == before)
            for id in ["", "nobody", "eda"] {
                try await service.admin("accounts:undoMerge", ["mergeId": .string(id)]).expectRefused("MERGE_NOT_FOUND")
            }
        }
    }

    @Test("T-D13: neither is for apps, nor for who may only read")
    func needsScope() async throws {
        try await MergeScene.run { service in
            let user = try await service.signUp("ada@example.com")
            let (_, reader) = try await service.stores.configuration.createAdminCredential(
                name: "reader",
                project: nil,
                scopes: [.readAccounts],
                expiresAt: nil
            )
            for verb in ["merge", "undoMerge"] {
                let path = "/v1/projects/\(service.project.id)/accounts:\(verb)"
                for (token, status) in [(nil, 401), (user.idToken, 401), (reader.reveal(), 403)] as [(String?, Int)] {
                    let headers = token.map { [("Authorization", "Bearer \($0)")] } ?? []
                    let reply = try await service.post(path, text: "{}", headers: headers)
                    #expect(reply.status == status, "\(verb): \(reply)")
                }
            }
        }
    }
}
