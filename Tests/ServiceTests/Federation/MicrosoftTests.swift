import Development
import Domain
import Foundation
import Projects
import Storage
import StrictJSON
import Testing
import TestKit
import Text

@Suite("Microsoft", .database, .testProvider)
struct MicrosoftTests {
    private static let work = ProviderPersonality.microsoftDirectory
    private static let home = ProviderPersonality.microsoftHome
    private static let other = "f8cdef31-a31e-4b4a-93e4-5f571e91255a"

    private func user(_ scene: ProviderScene, _ claims: JSONObject) -> TestUser {
        var user = scene.ada
        user.claims = claims
        return user
    }

    private func issuer(_ directory: String, _ scene: ProviderScene) -> String {
        scene.tenant.issuer + "/" + directory + "/v2.0"
    }

    private func options(_ definition: JSONObject) -> ProviderScene.Options {
        var options = ProviderScene.Options()
        options.definition = definition
        return options
    }

    /// The definition's variables, which the test provider sets too.
    private func configure(_ scene: ProviderScene, tenant: String, others: [String] = []) async throws {
        var configuration = scene.tenant.configuration(as: scene.provider)
        let variables: JSONValue = [
            "base": .string(scene.tenant.base), "graph": .string(scene.tenant.base), "tenant": .string(tenant),
        ]
        configuration = scene.tenant.configuration(
            as: scene.provider,
            overrides: [
                "variables": variables, "variableParameters": ["tenant": .array(others.map { .string($0) })],
            ]
        )
        try await scene.service.stores.configuration.replaceProvider(
            configuration,
            in: Scope(project: scene.service.project.id)
        )
    }

    // MARK: Directories

    struct Directory: Sendable, CustomTestStringConvertible {
        var tenant: String
        var tid: JSONValue?
        var isGood: Bool

        init(_ tenant: String, _ tid: JSONValue?, _ isGood: Bool) {
            (self.tenant, self.tid, self.isGood) = (tenant, tid, isGood)
        }

        var testDescription: String { "\(tenant): \(tid?.text ?? "none")" }
    }

    @Test(
        "T-C1: whose directory may sign in is the configuration's word, and the issuer is that of the token's directory",
        arguments: [
            Directory("common", .string(work), true), Directory("common", .string(home), true),
            Directory("common", .string(other), true), Directory("organizations", .string(work), true),
            Directory("organizations", .string(home), false), Directory("consumers", .string(home), true),
            Directory("consumers", .string(work), false), Directory(work, .string(work), true),
            Directory(work, .string(other), false), Directory(work, .string(home), false),
            Directory("common", nil, false), Directory("common", "", false), Directory("common", "common", false),
            Directory("common", "{tid}", false), Directory("common", .string(work.uppercased()), false),
            Directory("common", .string(work + "/v2.0/../" + other), false), Directory("common", 1, false),
            Directory("common", .array([.string(work)]), false),
        ]
    )
    func directories(_ directory: Directory) async throws {
        try await ProviderScene.run(.microsoft) { scene in
            try await configure(scene, tenant: directory.tenant)
            for type in ["code", "code id_token"] {
                var login = ScriptedLogin(scene.ada)
                var changes = IDTokenChanges(remove: ["tid"])
                if let tid = directory.tid {
                    changes = IDTokenChanges(set: ["tid": tid, "iss": .string(issuer(tid.string ?? "", scene))])
                }
                (login.idToken, login.frontIDToken) = (changes, changes)
                scene.tenant.nextLogin(login)
                let arrival = try await scene.arrive(["responseType": .string(type)])
                #expect(arrival.authURI.contains("/\(directory.tenant)/oauth2/v2.0/authorize?"))
                if directory.isGood {
                    let reply = try await scene.finish(arrival)
                    reply.expectOK()
                } else {
                    let reply = try await scene.refuses(nil) { try await scene.finish(arrival) }
                    let start = "INVALID_IDP_RESPONSE : The issuer in ID Token "
                    #expect(reply.error?.hasPrefix(start) == true, "\(reply)")
                }
            }
        }
    }

    @Test("T-C1: an issuer of another directory than the token's own is refused")
    func otherIssuer() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            for issuer in [
                issuer(Self.other, scene), issuer("{tid}", scene), issuer("{tenantid}", scene), scene.tenant.issuer,
                issuer(Self.work, scene) + "/", "https://evil.example/\(Self.work)/v2.0",
            ] {
                var login = ScriptedLogin(scene.ada)
                login.idToken = IDTokenChanges(set: ["iss": .string(issuer)])
                scene.tenant.nextLogin(login)
                let arrival = try await scene.arrive()
                let reply = try await scene.refuses(nil) { try await scene.finish(arrival) }
                #expect(reply.error?.hasPrefix("INVALID_IDP_RESPONSE : The issuer in ID Token ") == true, "\(reply)")
            }
        }
    }

    @Test("directories may be listed one by one, and a domain name needs that")
    func listedDirectories() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            let variables: JSONValue = [
                "base": .string(scene.tenant.base), "graph": .string(scene.tenant.base), "tenant": "acme.example",
            ]
            func configure(_ issuers: [String]) async throws {
                try await scene.service.stores.configuration.replaceProvider(
                    scene.tenant.configuration(
                        as: scene.provider,
                        overrides: ["variables": variables, "issuers": .array(issuers.map { .string($0) })]
                    ),
                    in: Scope(project: scene.service.project.id)
                )
            }
            try await configure([issuer(Self.work, scene), issuer(Self.other, scene)])
            for (directory, isGood) in [(Self.work, true), (Self.other, true), (Self.home, false)] {
                scene.tenant.nextLogin(user(scene, ["tid": .string(directory), "oid": .string("oid-of-" + directory)]))
                let arrival = try await scene.arrive()
                #expect(arrival.authURI.contains("/acme.example/oauth2/v2.0/authorize?"))
                let graph = ProviderFault.members(set: ["id": .string("oid-of-" + directory)])
                if isGood {
                    scene.tenant.addFault(graph, at: .userinfo)
                    try await scene.finish(arrival).expectOK()
                } else {
                    try await scene.refuses(nil) { try await scene.finish(arrival) }
                }
            }
            try await configure([scene.tenant.base + "/{tid}/v2.0"])
            try await scene.refuses(
                "INVALID_CONFIG : definition.issuers must contain the directory's GUID if the tenant is a domain"
            ) {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    ["providerId": "microsoft.com", "continueUri": "http://localhost/callback"]
                )
            }
        }
    }

    @Test("R-26: the custom parameter tenant goes into the path, where the configuration lists it")
    func tenantParameter() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            try await configure(scene, tenant: "organizations", others: ["consumers", Self.other])
            func start(_ tenant: String) -> JSON { ["customParameter": ["tenant": .string(tenant)]] }
            for (tenant, directory) in [
                ("consumers", Self.home), (Self.other, Self.other), ("organizations", Self.work),
            ] {
                scene.tenant.nextLogin(user(scene, ["tid": .string(directory), "oid": .string("oid-of-" + directory)]))
                scene.tenant.addFault(.members(set: ["id": .string("oid-of-" + directory)]), at: .userinfo)
                let arrival = try await scene.arrive(start(tenant))
                #expect(arrival.authURI.contains("/\(tenant)/oauth2/v2.0/authorize?"))
                #expect(arrival.request["tenant"] == nil)
                let reply = try await scene.finish(arrival)
                reply.expectOK()
                #expect(scene.tenant.requests(.token).last?.path.contains("/\(tenant)/oauth2/v2.0/token") == true)
            }
            // The directory that was chosen counts, not the configuration's.
            scene.tenant.nextLogin(user(scene, ["tid": .string(Self.work)]))
            let wrong = try await scene.arrive(start("consumers"))
            try await scene.refuses(nil) { try await scene.finish(wrong) }

            for tenant in ["common", Self.work, "", "evil/../common", "consumers/oauth2", "Consumers"] {
                try await scene.refuses("INVALID_ARGUMENT : The custom parameter \"tenant\" is not allowed.") {
                    try await scene.service.call(
                        "accounts:createAuthUri",
                        [
                            "providerId": "microsoft.com", "continueUri": "http://localhost/callback",
                            "customParameter": ["tenant": .string(tenant)],
                        ]
                    )
                }
            }
            try await scene.refuses("INVALID_ARGUMENT : The custom parameter \"Tenant\" is not allowed.") {
                try await scene.service.call(
                    "accounts:createAuthUri",
                    [
                        "providerId": "microsoft.com", "continueUri": "http://localhost/callback",
                        "customParameter": ["Tenant": "consumers"],
                    ]
                )
            }
            // A tenant that an admin takes from the list ends what is under way with it.
            scene.tenant.nextLogin(user(scene, ["tid": .string(Self.other)]))
            let waiting = try await scene.arrive(start(Self.other))
            try await configure(scene, tenant: "organizations")
            let sent = scene.tenant.requests(.token).count
            try await scene.refuses("INVALID_CONFIG : definition.variableParameters does not allow this") {
                try await scene.finish(waiting)
            }
            #expect(scene.tenant.requests(.token).count == sent)
        }
    }

    // MARK: Who it is

    @Test("R-31: the subject is the oid, of the directory that it came from")
    func subject() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            let first = try await scene.signIn()
            #expect(first["federatedId"]?.string == scene.ada.subject)
            // Another registration of the app knows the same person by another sub.
            var login = ScriptedLogin(scene.ada)
            login.idToken = IDTokenChanges(set: ["sub": "another-app-of-ours"])
            scene.tenant.nextLogin(login)
            #expect(try await scene.signIn().localID == first.localID)
            // The same number in another directory is another person.
            scene.tenant.nextLogin(user(scene, ["tid": .string(Self.other)]))
            let arrival = try await scene.arrive()
            let reply = try await scene.refuses(nil) { try await scene.finish(arrival) }
            #expect(reply.error?.hasPrefix("INVALID_IDP_RESPONSE : The issuer in ID Token ") == true, "\(reply)")
            for changes in [IDTokenChanges(remove: ["oid"]), IDTokenChanges(set: ["oid": 7])] {
                login.idToken = changes
                scene.tenant.nextLogin(login)
                let without = try await scene.arrive()
                try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(without) }
            }
        }
    }

    @Test("T-C12: Graph's profile is optional, and about the token's person")
    func graph() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            let reply = try await scene.signIn()
            let raw = try JSON(parsing: Array((reply["rawUserInfo"]?.string ?? "").utf8))
            #expect(raw["displayName"] == "Ada")
            #expect(raw["userPrincipalName"] == "ada-login")
            #expect(raw["tid"]?.string == Self.work)
            scene.tenant.addFault(.status(403), at: .userinfo)
            let without = try await scene.signIn()
            #expect(without.localID == reply.localID, "\(without)")
            for id in ["somebody-else", ""] {
                let arrival = try await scene.arrive()
                scene.tenant.addFault(.members(set: ["id": .string(id)]), at: .userinfo)
                try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(arrival) }
            }
            let nameless = try await scene.arrive()
            scene.tenant.addFault(.members(remove: ["id"]), at: .userinfo)
            try await scene.refuses(Messages.invalidAnswer) { try await scene.finish(nameless) }
            // A personal account's id at Graph is the end of its oid.
            let claims: JSONObject = [
                "tid": .string(Self.home), "oid": "00000000-0000-0000-d4ae-5f0123456789",
            ]
            scene.tenant.nextLogin(user(scene, claims))
            scene.tenant.addFault(.members(set: ["id": "D4AE5F0123456789"]), at: .userinfo)
            let personal = try await scene.signIn()
            #expect(personal["federatedId"] == "00000000-0000-0000-d4ae-5f0123456789")
        }
    }

    // MARK: Keys and tokens

    @Test("T-C1: a key that is another directory's signs nothing here")
    func keysOfIssuers() async throws {
        for (suffix, isGood) in [
            ("/{tenantid}/v2.0", true), ("/\(Self.work)/v2.0", true), ("/\(Self.other)/v2.0", false),
            ("/{tenantid}", false), ("", false),
        ] {
            var options = ProviderScene.Options()
            options.personality = { $0.documentIssuer = suffix }
            try await ProviderScene.run(.microsoft, options) { scene in
                let arrival = try await scene.arrive()
                if isGood {
                    try await scene.finish(arrival).expectOK()
                } else {
                    try await scene.refuses(Messages.badSignature) { try await scene.finish(arrival) }
                }
            }
        }
    }

    @Test("R-38: an access token alone signs no one in")
    func accessToken() async throws {
        try await ProviderScene.run(.microsoft) { scene in
            let token = scene.tenant.mintAccessToken(for: scene.ada)
            scene.secrets.add(token)
            try await scene.refuses("INVALID_IDP_RESPONSE : An access token alone is not accepted for microsoft.com.") {
                try await scene.service.signInWithIdP(postBody: "access_token=\(token)&providerId=microsoft.com")
            }
            #expect(scene.tenant.requests().isEmpty)
        }
    }

    @Test(
        "R-21: says what is wrong with a tenant",
        arguments: ["", "Common", "acme.example", "a b", "../x", work + "0"]
    )
    func tenants(_ tenant: String) async throws {
        try await TestSlots.services.use {
            try await TestService.run { service in
                let reply = try await service.admin(
                    "defaultSupportedIdpConfigs?idpId=microsoft.com",
                    [
                        "clientId": "a", "clientSecret": "the-client-secret",
                        "definition": ["variables": ["tenant": .string(tenant)]],
                    ],
                    version: "v2"
                )
                #expect(reply.status == 400)
                #expect(reply.error?.hasPrefix("INVALID_CONFIG : definition.") == true, "\(reply)")
            }
        }
    }
}
