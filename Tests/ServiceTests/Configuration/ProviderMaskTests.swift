import Domain
import Projects
import Storage
import Testing
import TestKit

/// `updateMask` of a provider's configuration (AIP-134, AIP-161).
@Suite("Changing members of a provider's configuration", .database)
struct ProviderMaskTests {
    private static let acme: JSON = [
        "enabled": true, "clientId": "app", "clientSecret": "s3cret",
        "definition": [
            "audiences": ["com.example.app"],
            "endpoints": ["authorization": "https://acme.example/authorize", "token": "https://acme.example/token"],
            "profile": [["url": "https://acme.example/me"]],
            "claims": ["subject": ["id"]],
            "extraAuthorizationParameters": ["access_type": "offline", "display": "page"],
            "emailTrust": "never",
        ],
    ]

    /// Changes `oauth.acme`, and gives what the definition is afterwards.
    private func change(_ service: TestService, _ mask: String, _ definition: JSON?) async throws -> JSON? {
        let path = "oauthIdpConfigs/oauth.acme"
        let body: JSON = definition.map { ["definition": $0, "clientId": "not named"] } ?? ["clientId": "not named"]
        let reply = try await service.admin("\(path)?updateMask=\(mask)", body, method: "PATCH", version: "v2")
        #expect(reply.status == 200, "\(mask): \(reply)")
        #expect(reply["clientId"] == "app")
        #expect(try await service.admin(path, version: "v2").json == reply.json)
        return reply["definition"]
    }

    @Test("a mask that names a member of the definition changes that one, however deep, and leaves the others")
    func members() async throws {
        try await TestService.run { service in
            // With a secret, endpoints could not change alone (T-D30).
            var acme = Self.acme.object ?? [:]
            acme["clientSecret"] = nil
            let made = try await service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oauth.acme",
                .object(acme),
                version: "v2"
            )
            made.expectOK()
            var expected = try #require(made["definition"])
            func expect(_ path: [String], _ value: JSON?, after mask: String, _ sent: JSON?) async throws {
                expected = expected.setting(path, to: value)
                #expect(try await change(service, mask, sent) == expected, "\(mask)")
            }
            let endpoint: JSON = "https://new.example/token"
            // What the body has besides is not looked at.
            try await expect(
                ["endpoints", "token"],
                endpoint,
                after: "definition.endpoints.token",
                ["endpoints": ["token": endpoint, "authorization": "https://ignored.example/"], "pkce": "required"]
            )
            try await expect(["pkce"], "none", after: "definition.pkce", ["pkce": "none"])
            try await expect(["audiences"], ["a", "b"], after: "definition.audiences", ["audiences": ["a", "b"]])
            // A name of the admin's own stands as it is written.
            try await expect(
                ["extraAuthorizationParameters", "access_type"],
                "online",
                after: "definition.extraAuthorizationParameters.access_type",
                ["extraAuthorizationParameters": ["access_type": "online"]]
            )
            try await expect(
                ["emailTrust"],
                ["domains": ["example.com"]],
                after: "definition.emailTrust.domains",
                ["emailTrust": ["domains": ["example.com"], "orAuthority": true]]
            )
            // What is named and not sent goes, an object with its last member too.
            try await expect(["pkce"], nil, after: "definition.pkce", nil)
            try await expect(["emailTrust"], nil, after: "definition.emailTrust.domains", [:])
            try await expect(
                ["extraAuthorizationParameters", "display"],
                nil,
                after: "definition.extraAuthorizationParameters.display",
                ["extraAuthorizationParameters": [:]]
            )
            try await expect(["audiences"], nil, after: "definition.audiences", nil)
            // Several at once, in two spellings of the mask's own names.
            expected = expected.setting(["scopes"], to: ["default": ["a"]]).setting(["redirect"], to: "omit")
            let sent: JSON = ["scopes": ["default": ["a"], "separator": ","], "redirect": "omit"]
            let both = try await change(service, "definition.redirect,definition.scopes.default", sent)
            #expect(both == expected)
            // The whole is still replaced by its own name.
            let whole = try #require(Self.acme["definition"])
            #expect(try await change(service, "definition", whole) == whole)
        }
    }

    @Test("a member that does not fit is refused, and nothing is changed")
    func refusals() async throws {
        try await TestService.run { service in
            try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oauth.acme", Self.acme, version: "v2")
            let path = "oauthIdpConfigs/oauth.acme"
            let before = try await service.admin(path, version: "v2")
            for (mask, definition) in [
                ("definition.endpoints.token", ["endpoints": "https://acme.example"]),
                ("definition.endpoints.token", ["endpoints": ["token": "http://acme.example"]]),
                ("definition.endpoints.token", [:]), ("definition.profile", [:]),
                ("definition.pkce", ["pkce": "maybe"]),
            ] as [(String, JSON)] {
                let body: JSON = ["definition": definition]
                let reply = try await service.admin("\(path)?updateMask=\(mask)", body, method: "PATCH", version: "v2")
                #expect(reply.status == 400, "\(mask) \(definition.text): \(reply)")
            }
            #expect(try await service.admin(path, version: "v2").json == before.json)
        }
    }

    @Test(
        "an unknown path is refused by name, and the fields beside it are not changed",
        arguments: [
            ("oauthIdpConfigs/oauth.acme", "nonsense"), ("oauthIdpConfigs/oauth.acme", "definition.nonsense"),
            ("oauthIdpConfigs/oauth.acme", "definition.endpoints.nonsense"),
            ("oauthIdpConfigs/oauth.acme", "definition.end_points"),
            ("oauthIdpConfigs/oauth.acme", "definition.pkce.x"),
            ("oauthIdpConfigs/oauth.acme", "definition.profile.url"),
            ("oauthIdpConfigs/oauth.acme", "definition.profile.0"), ("oauthIdpConfigs/oauth.acme", "definition."),
            ("oauthIdpConfigs/oauth.acme", "definition.audiences.x"), ("oauthIdpConfigs/oauth.acme", "clientId.x"),
            ("oauthIdpConfigs/oauth.acme", "responseType.token"), ("oauthIdpConfigs/oauth.acme", "appleSignInConfig"),
            ("oauthIdpConfigs/oauth.acme", "*.x"), ("defaultSupportedIdpConfigs/google.com", "issuer"),
            ("defaultSupportedIdpConfigs/google.com", "responseType"),
            ("defaultSupportedIdpConfigs/google.com", "definition.nonsense"),
            ("defaultSupportedIdpConfigs/google.com", "appleSignInConfig.codeFlowConfig.x"),
        ]
    )
    func unknownPaths(_ path: String, _ mask: String) async throws {
        try await TestService.run { service in
            try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oauth.acme", Self.acme, version: "v2")
            let google: JSON = ["clientId": "app", "clientSecret": "s", "enabled": true]
            try await service.admin("defaultSupportedIdpConfigs?idpId=google.com", google, version: "v2")
            let before = try await service.admin(path, version: "v2")
            before.expectOK()
            let reply = try await service.admin(
                "\(path)?updateMask=clientId,\(mask)",
                ["clientId": "another", "definition": ["nonsense": 1]],
                method: "PATCH",
                version: "v2"
            )
            #expect(reply.status == 400, "\(reply)")
            #expect(reply.error == "The updateMask names an unknown member: \(mask)")
            #expect(reply["error"]?["status"] == "INVALID_ARGUMENT")
            #expect(try await service.admin(path, version: "v2").json == before.json)
        }
    }

    @Test("every member that can be set can be named, and * is refused")
    func everyMember() async throws {
        try await TestService.run { service in
            try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oauth.acme", Self.acme, version: "v2")
            let path = "oauthIdpConfigs/oauth.acme"
            let names = [
                "displayName", "endpoints.revocation", "issuers", "discovery", "discoveryURL", "endpointHosts", "jwks",
                "variables.x_y", "scopes.whenSupported", "responseTypes", "responseMode", "sendNonce", "clientAuth",
                "allowedCustomParameters", "variableParameters.tenant", "redirectURIs", "token.extraParameters.x_y",
                "token.accept", "idToken.algorithms", "idToken.maximumAge", "refresh.parameters.x_y",
                "refresh.exchange",
                "keepTokens", "claims.subject", "rawUserInfo", "emailTrust", "directSignIn.accessToken",
                "revocation.style",
                "federatedIDPrefix", "quirks", "extraAuthorizationParameters",
            ].map { "definition." + $0 }
            for name in names + ["name", "webhook_secret", "display_name", "response_type.id_token"] {
                // The body repeats what is there: naming it changes nothing, and is no mistake.
                let body: JSON = [
                    "definition": Self.acme["definition"] ?? [:], "responseType": ["idToken": false],
                ]
                let reply = try await service.admin("\(path)?updateMask=\(name)", body, method: "PATCH", version: "v2")
                #expect(reply.status == 200, "\(name): \(reply)")
            }
            let all = try await service.admin("\(path)?updateMask=*", Self.acme, method: "PATCH", version: "v2")
            #expect(all.status == 400, "\(all)")
        }
    }

    @Test("without a mask, what the body has is changed, members of the definition one by one, and nothing else")
    func withoutMask() async throws {
        try await TestService.run { service in
            var acme = Self.acme.object ?? [:]
            acme["clientSecret"] = nil
            let path = "oauthIdpConfigs/oauth.acme"
            let made = try await service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oauth.acme",
                .object(acme),
                version: "v2"
            )
            made.expectOK()
            func patch(_ body: JSON?) async throws -> Reply {
                try await service.admin(path, body, method: "PATCH", version: "v2")
            }
            for nothing in [nil, [:], ["definition": [:], "issuer": .null], made.json] as [JSON?] {
                let reply = try await patch(nothing)
                #expect(reply.json == made.json, "\(reply)")
            }
            let changed = try await patch([
                "enabled": false,
                "definition": [
                    "endpoints": ["token": "https://new.example/token"],
                    "extraAuthorizationParameters": ["prompt": "login"],
                ],
            ])
            let expected = try #require(made["definition"])
                .setting(["endpoints", "token"], to: "https://new.example/token")
                .setting(["extraAuthorizationParameters"], to: ["prompt": "login"])
            #expect(changed["definition"] == expected, "a map is one member: \(changed)")
            #expect(changed["enabled"] != true && changed["clientId"] == made["clientId"])
            for misspelt: JSON in [["clientID": "x"], ["definition": ["nonsense": ["a": 1]]], ["client_secrets": "x"]] {
                #expect(try await patch(misspelt).status == 400, "\(misspelt)")
            }
            #expect(try await service.admin(path, version: "v2").json == changed.json)
        }
    }

    @Test("Apple's key is changed by its parts, in Firebase's shape and in ours")
    func apple() async throws {
        try await TestService.run { service in
            let path = "defaultSupportedIdpConfigs/apple.com"
            func change(_ mask: String, _ body: JSON) async throws -> JSON? {
                let reply = try await service.admin("\(path)?updateMask=\(mask)", body, method: "PATCH", version: "v2")
                #expect(reply.status == 200, "\(mask): \(reply)")
                return reply["appleSignInConfig"]
            }
            let made = try await service.admin(
                "defaultSupportedIdpConfigs?idpId=apple.com",
                [
                    "clientId": "com.example.web",
                    "appleSignInConfig": [
                        "bundleIds": ["com.example.app"], "codeFlowConfig": ["teamId": "TEAM", "keyId": "KEY"],
                    ],
                ],
                version: "v2"
            )
            made.expectOK()
            let keyed = try await change(
                "appleSignInConfig.codeFlowConfig.keyId",
                ["appleSignInConfig": ["bundleIds": ["x"], "codeFlowConfig": ["keyId": "NEW", "teamId": "x"]]]
            )
            #expect(
                keyed == ["codeFlowConfig": ["teamId": "TEAM", "keyId": "NEW"], "bundleIds": ["com.example.app"]]
            )
            let teamed = try await change(
                "definition.variables.teamId",
                ["definition": ["variables": ["teamId": "OTHER"], "emailTrust": "never"]]
            )
            #expect(
                teamed == ["codeFlowConfig": ["teamId": "OTHER", "keyId": "NEW"], "bundleIds": ["com.example.app"]]
            )
            let listed = try await change("appleSignInConfig.bundleIds", ["appleSignInConfig": ["bundleIds": ["b"]]])
            #expect(listed == ["codeFlowConfig": ["teamId": "OTHER", "keyId": "NEW"], "bundleIds": ["b"]])
            let emptied = try await change("appleSignInConfig.bundle_ids,appleSignInConfig.codeFlowConfig.keyId", [:])
            #expect(emptied == ["codeFlowConfig": ["teamId": "OTHER"]])
        }
    }

    // MARK: The response type

    /// What is there, what the mask and the body are, and what is shown then; nil: it is refused.
    static let responseTypes: [(String, String, JSON, String?)] = [
        // Firebase's Admin SDK for Node, with its masks of leaves.
        ("idToken", "responseType.idToken,responseType.code", ["idToken": false, "code": true], "code"),
        ("idToken", "responseType.code", ["code": true], "code"),
        ("code", "responseType.idToken", ["idToken": true], "idToken"),
        ("code", "responseType.idToken", ["idToken": false], "code"),
        ("code", "responseType.code", ["code": false], nil),
        ("idToken", "responseType.code", ["code": false, "idToken": false], "idToken"),
        ("idToken", "responseType", ["code": true], "code"), ("code", "responseType", ["idToken": true], "idToken"),
        ("idToken", "responseType", ["code": true, "idToken": true], nil), ("idToken", "responseType", [:], nil),
        ("idToken", "responseType.idToken,responseType.code", ["idToken": false, "code": false], nil),
        ("idToken", "displayName", ["code": true], "idToken"),
    ]

    @Test(
        "the response type is shown as it was configured, whether there is a secret or not",
        arguments: responseTypes.indices
    )
    func responseType(_ index: Int) async throws {
        let (before, mask, sent, after) = Self.responseTypes[index]
        try await TestService.run { service in
            let path = "oauthIdpConfigs/oidc.acme"
            let made = try await service.admin(
                "oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
                [
                    "clientId": "app", "clientSecret": "s3cret", "issuer": "https://login.acme.example",
                    "responseType": .object([before: true]),
                ],
                version: "v2"
            )
            #expect(made["responseType"] == .object([before: true]), "\(made)")
            let body: JSON = ["responseType": sent]
            let reply = try await service.admin("\(path)?updateMask=\(mask)", body, method: "PATCH", version: "v2")
            guard let after else {
                #expect(
                    reply.error == "INVALID_CONFIG : The response type must set exactly one of idToken and code.",
                    "\(reply)"
                )
                #expect(try await service.admin(path, version: "v2").json == made.json)
                return
            }
            #expect(reply["responseType"] == .object([after: true]), "\(reply)")
            #expect(try await service.admin(path, version: "v2").json == reply.json)
        }
    }

    @Test("the code flow keeps needing a secret, whichever of the two is changed")
    func codeNeedsSecret() async throws {
        try await TestService.run { service in
            let path = "oauthIdpConfigs/oidc.acme"
            let body: JSON = ["clientId": "app", "issuer": "https://login.acme.example"]
            let made = try await service.admin("oauthIdpConfigs?oauthIdpConfigId=oidc.acme", body, version: "v2")
            #expect(made["responseType"] == nil, "nobody set it")
            func change(_ mask: String, _ body: JSON) async throws -> Reply {
                try await service.admin("\(path)?updateMask=\(mask)", body, method: "PATCH", version: "v2")
            }
            let refusal = "INVALID_CONFIG : client_secret cannot be empty for code flow."
            #expect(try await change("responseType.code", ["responseType": ["code": true]]).error == refusal)
            let code: JSON = ["clientSecret": "s3cret", "responseType": ["code": true]]
            #expect(try await change("clientSecret,responseType.code", code)["responseType"] == ["code": true])
            #expect(try await change("clientSecret", [:]).error == refusal)
            #expect(try await change("clientSecret", ["clientSecret": ""]).error == refusal)
            let idToken: JSON = ["responseType": ["idToken": true]]
            #expect(try await change("clientSecret,responseType", idToken)["responseType"] == ["idToken": true])
        }
    }
}

extension JSON {
    /// With the value at a path of member names set, or removed; an object that lost its last member goes with it.
    fileprivate func setting(_ path: [String], to value: JSON?) -> JSON {
        guard let name = path.first else { return value ?? self }
        var members = object ?? [:]
        let inner = path.count > 1 ? (members[name] ?? [:]).setting(Array(path.dropFirst()), to: value) : value
        members[name] = inner == [:] ? nil : inner
        return .object(members)
    }
}
