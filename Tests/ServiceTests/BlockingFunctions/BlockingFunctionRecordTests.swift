import Development
import Foundation
import Projects
import TestKit
import Testing

/// What functions receive of an account, compared with what `accounts:lookup` returns.
@Suite("Blocking functions: the user", .database, .testProvider)
struct BlockingFunctionRecordTests {
    /// Where a member of `users[]` stands in `user_record`, under the names that Firebase's SDKs for functions read.
    private enum Place {
        case at(String)
        /// Why it stands nowhere.
        case nowhere(String)
    }

    private static let places: [String: Place] = [
        "localId": .at("uid"), "email": .at("email"), "emailVerified": .at("email_verified"),
        "displayName": .at("display_name"), "photoUrl": .at("photo_url"), "phoneNumber": .at("phone_number"),
        "disabled": .at("disabled"), "customAttributes": .at("custom_claims"), "tenantId": .at("tenant_id"),
        "validSince": .at("tokens_valid_after_time"), "createdAt": .at("metadata.creation_time"),
        "lastLoginAt": .at("metadata.last_sign_in_time"), "providerUserInfo": .at("provider_data"),
        "mfaInfo": .at("multi_factor.enrolled_factors"),
        "passwordHash": .nowhere("a secret; lookup returns it redacted"), "salt": .nowhere("a secret"),
        "version": .nowhere("of the secret"), "passkeyInfo": .nowhere("Firebase's SDKs read none; see provider_data"),
        "passwordUpdatedAt": .nowhere("Firebase's SDKs do not read it"),
        "lastRefreshAt": .nowhere("Firebase's SDKs do not read it"),
        "customAuth": .nowhere("Firebase's SDKs do not read it"),
        "emailLinkSignin": .nowhere("Firebase's SDKs do not read it"),
        "initialEmail": .nowhere("Firebase's SDKs do not read it"),
        "screenName": .nowhere("Firebase's SDKs do not read it"),
        "language": .nowhere("Firebase's SDKs do not read it"),
        "timeZone": .nowhere("Firebase's SDKs do not read it"),
        "dateOfBirth": .nowhere("Firebase's SDKs do not read it"),
    ]

    private static let providerMembers = [
        "providerId": "provider_id", "rawId": "uid", "displayName": "display_name", "photoUrl": "photo_url",
        "email": "email", "phoneNumber": "phone_number",
    ]

    private static let factorMembers = [
        "mfaEnrollmentId": "uid", "displayName": "display_name", "phoneInfo": "phone_number",
    ]

    @Test("every member of a user has its place, or a reason to have none")
    func allMembers() throws {
        let document = try OpenAPIDocument.ofRepository()
        #expect(document.members(ofComponent: "UserInfo") == Set(Self.places.keys))
    }

    @Test("`user_record` says what `accounts:lookup` says")
    func sameAsLookup() async throws {
        try await FunctionScene.run({
            $0.offerApps()
            $0.secondFactors.isEnabled = true
        }) { scene in
            let service = scene.service
            let user = try await service.verifiedUser()
            let id = JSON(user.localID)
            let linked = try await service.signInWithIdP(postBody: try scene.adaAtAcme(), idToken: user.idToken)
            linked.expectOK()
            let phone = try await EnrolledPhone.enroll(linked.idToken, service, number: "+15555550177", name: "Own")
                .phone
            let (app, _) = try await AuthenticatorApp.enroll(linked.idToken, service)
            let updated = try await service.admin(
                "accounts:update",
                [
                    "localId": id, "displayName": "Ada", "photoUrl": "https://pictures.example/1",
                    "customAttributes": #"{"role":"reader"}"#, "disableUser": false,
                ]
            )
            updated.expectOK()
            let account = try #require(try await service.account(user.localID))
            let reply = try await app.signIn(try await service.signInWithPassword("ada@example.com"))
            reply.expectOK()
            let question = try await scene.question(to: "/sign-in")
            #expect(question["sign_in_second_factor"] == "totp")
            let record = try #require(question["user_record"])

            for (name, value) in account.object ?? [:] {
                guard case .at(let path)? = Self.places[name] else { continue }
                let told = path.split(separator: ".").reduce(record as JSON?) { $0?[String($1)] }
                switch name {
                case "providerUserInfo": try expect(told, sameAs: value, Self.providerMembers)
                case "mfaInfo": try expect(told, sameAs: value, Self.factorMembers)
                case "customAttributes": #expect(told?.text == value.string)
                case "createdAt", "lastLoginAt", "validSince":
                    #expect(told?.number == value.string.flatMap(Double.init), "\(name): \(told as Any)")
                default: #expect(told == value, "\(name): \(told as Any)")
                }
            }
            let factors = record["multi_factor"]?["enrolled_factors"]?.array ?? []
            #expect(factors.map { $0["factor_id"]?.string } == ["phone", "totp"], "\(factors)")
            #expect(factors.first?["uid"]?.string == phone.enrollment)
            for factor in factors {
                let time = try #require(factor["enrollment_time"]?.string)
                #expect(time.hasSuffix("+00:00") && (try? Date(time, strategy: .iso8601)) != nil, "\(time)")
            }
        }
    }

    private func expect(_ told: JSON?, sameAs value: JSON, _ names: [String: String]) throws {
        let (told, value) = (told?.array ?? [], value.array ?? [])
        #expect(told.count == value.count && !told.isEmpty, "\(told) \(value)")
        for (told, value) in zip(told, value) {
            for (name, other) in names { #expect(told[other] == value[name], "\(name): \(told) \(value)") }
        }
    }

    @Test("what Firebase's SDKs read without a default is there for a client and an account that lack everything")
    func neverAbsent() async throws {
        try await FunctionScene.run { scene in
            try await EntrancePath.anonymous.enter(scene).expectOK()
            let question = try await scene.question(to: "/create")
            for name in ["ip_address", "user_agent", "locale"] { #expect(question[name]?.string != nil, "\(name)") }
            #expect(question["user_agent"] == "" && question["locale"] == "")
            let record = try #require(question["user_record"])
            #expect(record["email_verified"] == false && record["disabled"] == false)
            #expect(record["custom_claims"]?.object == [:] && record["provider_data"]?.array == [])
            #expect(record["metadata"]?["creation_time"]?.number != nil)
        }
    }
}
