import Projects
import TestKit

extension OperationCase {
    static let admins: [OperationCase] = [
        admin("adminLookup", "accounts:lookup", ["localId": ["ada"]]),
        admin("adminUpdate, the profile", "accounts:update", ["localId": "ada", "displayName": "Ada"]),
        admin("adminUpdate, the password", "accounts:update", ["localId": "ada", "password": "another horse"]),
        admin("adminBatchDelete, one account", "accounts:batchDelete", ["localIds": ["ada"], "force": true]),
        admin("adminSendOobCode", "accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "email": .string(ada)]),
        admin("adminQuery, a range", "accounts:query", ["sortBy": "LAST_LOGIN_AT", "offset": 1]),
        admin("adminQuery, a page", "accounts:query", ["providerId": "oidc.acme", "pageSize": 1]),
        admin("adminQuery, a number", "accounts:query", ["returnUserInfo": false]),
        admin("adminQueryAccounts", ":queryAccounts", [:]),
        OperationCase("downloadAccount") { world in
            _ = try await world.account(["localId": "ada", "email": .string(ada), "password": "correct horse"])
            let service = world.service
            let body: JSON = ["targetProjectId": .string(service.project.id.rawValue)]
            return {
                try await service.post(
                    "/identitytoolkit/v3/relyingparty/downloadAccount",
                    text: body.text,
                    headers: [("Authorization", "Bearer \(service.adminToken)")]
                )
            }
        },
        upload("adminBatchCreate, new accounts", ["mary", "alan"]),
        upload("adminBatchCreate, known accounts", ["ada", "alan"]),
        upload("adminBatchCreate, without allowOverwrite", ["mary", "alan"], ["allowOverwrite": false]),
        merging("adminLookup, by the id of a merged account", "accounts:lookup") { _ in ["localId": ["grace"]] },
        admin("adminMergeAccounts, a preview", "accounts:merge", graceIntoAda.merging(["validateOnly": true])),
        OperationCase("adminMergeAccounts") { world in
            try await people(world)
            try await world.update("ada", ["emailVerified": true])
            return { try await world.service.admin("accounts:merge", graceIntoAda) }
        },
        merging("adminUndoMerge", "accounts:undoMerge") { ["mergeId": $0["mergeId"] ?? ""] },
        admin("adminExplainSignIn", "accounts:explainSignIn", ["providerId": "oidc.acme", "rawId": "R"]),
        OperationCase("adminCreate") { world in
            _ = try await world.service.admin("config", version: "v2")
            return { try await world.service.admin("accounts", ["email": .string(ada), "password": "correct horse"]) }
        },
        OperationCase("createSessionCookie") { world in
            let user = try await world.service.signUp("ada@example.com")
            _ = try await world.service.admin("config", version: "v2")
            return { try await world.service.admin(":createSessionCookie", ["idToken": JSON(user.idToken)]) }
        },
        inTenant("createTenantSessionCookie") { world, tenant in
            let user = try await world.service.call("accounts:signUp", ["tenantId": .string(tenant)])
            let body: JSON = ["idToken": JSON(user.idToken)]
            return { try await world.service.admin("tenants/\(tenant):createSessionCookie", body) }
        },
        OperationCase("adminProviderToken") { world in
            let user = try await world.keepingTokens()
            let body: JSON = ["localId": JSON(user.localID), "providerId": "oidc.acme"]
            return { try await world.service.admin("accounts:providerToken", body) }
        },
    ]

    private static let graceIntoAda: JSON = ["localId": "ada", "mergedLocalId": "grace"]

    /// After Grace, who has an identity of Google, was merged into Ada.
    private static func merging(
        _ name: String,
        _ path: String,
        _ body: @escaping @Sendable (_ merge: Reply) -> JSON
    ) -> OperationCase {
        OperationCase(name) { world in
            try await people(world)
            try await world.update("ada", ["emailVerified": true])
            let merge = try await world.service.admin("accounts:merge", graceIntoAda)
            return { try await world.service.admin(path, body(merge)) }
        }
    }

    static func people(_ world: LinkingWorld) async throws {
        _ = try await world.account(["localId": "ada", "email": .string(ada), "password": "correct horse"])
        try await world.update("ada", ["linkProviderUserInfo": ["providerId": "oidc.acme", "rawId": "R"]])
        _ = try await world.account(["localId": "grace", "phoneNumber": "+4915550100"])
        try await world.update("grace", ["linkProviderUserInfo": ["providerId": "google.com", "rawId": "G"]])
    }

    /// About Ada, who has a password and an identity of Acme, and Grace, who has a number and one of Google.
    private static func admin(_ name: String, _ path: String, _ body: JSON? = nil) -> OperationCase {
        OperationCase(name) { world in
            try await people(world)
            return { try await world.service.admin(path, body) }
        }
    }

    private static func upload(_ name: String, _ ids: [String], _ members: JSON = [:]) -> OperationCase {
        let users = ids.map { ImportedHash.md5.account($0, email: "\($0)@example.net") }
        return admin(name, "accounts:batchCreate", ImportedHash.md5.upload(users).merging(members))
    }

    // MARK: Configuration

    private static let builtIn: JSON = ["enabled": true, "clientId": "app", "clientSecret": "s"]
    private static let custom: JSON = builtIn.merging(["issuer": "https://login.acme.example"])

    static let configuration: [OperationCase] = [
        config("updateConfig", "config?updateMask=identity.linking", ["identity": ["linking": "never"]], "PATCH"),
        config("updatePasskeyConfig", "passkeyConfig?updateMask=rpId", ["rpId": "example.com"], "PATCH"),
        config("createDefaultSupportedIdpConfig", "defaultSupportedIdpConfigs?idpId=yahoo.com", builtIn),
        config("getDefaultSupportedIdpConfig", "defaultSupportedIdpConfigs/google.com"),
        config(
            "updateDefaultSupportedIdpConfig",
            "defaultSupportedIdpConfigs/google.com?updateMask=enabled",
            ["enabled": false],
            "PATCH"
        ),
        config("deleteDefaultSupportedIdpConfig", "defaultSupportedIdpConfigs/google.com", nil, "DELETE"),
        config("createOauthIdpConfig", "oauthIdpConfigs?oauthIdpConfigId=oidc.new", custom),
        config("getOauthIdpConfig", "oauthIdpConfigs/oidc.acme"),
        config(
            "updateOauthIdpConfig",
            "oauthIdpConfigs/oidc.acme?updateMask=displayName",
            ["displayName": "A"],
            "PATCH"
        ),
        config("deleteOauthIdpConfig", "oauthIdpConfigs/oidc.acme", nil, "DELETE"),
        OperationCase("createInboundSamlConfig") { world in
            _ = try await world.service.admin("config", version: "v2")
            let body = try SAMLConfigurationTests.acme()
            return {
                try await world.service.admin(
                    "inboundSamlConfigs?inboundSamlConfigId=saml.acme",
                    body,
                    version: "v2"
                )
            }
        },
        saml("getInboundSamlConfig", "inboundSamlConfigs/saml.acme"),
        saml(
            "updateInboundSamlConfig",
            "inboundSamlConfigs/saml.acme?updateMask=displayName",
            ["displayName": "A"],
            "PATCH"
        ),
        saml("deleteInboundSamlConfig", "inboundSamlConfigs/saml.acme", nil, "DELETE"),
        tenant("listTenants", "tenants"),
        tenant("createTenant", "tenants", ["displayName": "Southwind"]),
        tenant("getTenant", "tenants/{tenant}"),
        tenant("updateTenant", "tenants/{tenant}?updateMask=displayName", ["displayName": "Southwind"], "PATCH"),
        tenant("deleteTenant", "tenants/{tenant}", nil, "DELETE"),
    ]

    /// With a tenant in which guests may sign in.
    private static func inTenant(
        _ name: String,
        _ prepare: @escaping @Sendable (LinkingWorld, _ tenant: String) async throws -> Request
    ) -> OperationCase {
        OperationCase(name, { $0.allowsTenants = true }) { world in
            try await prepare(world, world.service.makeTenant("Northwind", ["enableAnonymousUser": true]))
        }
    }

    private static func tenant(
        _ name: String,
        _ path: String,
        _ body: JSON? = nil,
        _ method: String? = nil
    ) -> OperationCase {
        inTenant(name) { world, tenant in
            let path = path.replacing("{tenant}", with: tenant)
            return { try await world.service.admin(path, body, method: method, version: "v2") }
        }
    }

    /// With a SAML provider.
    private static func saml(
        _ name: String,
        _ path: String,
        _ body: JSON? = nil,
        _ method: String? = nil
    ) -> OperationCase {
        OperationCase(name) { world in
            try await world.service.admin(
                "inboundSamlConfigs?inboundSamlConfigId=saml.acme",
                SAMLConfigurationTests.acme(),
                version: "v2"
            )
            return { try await world.service.admin(path, body, method: method, version: "v2") }
        }
    }

    private static func config(
        _ name: String,
        _ path: String,
        _ body: JSON? = nil,
        _ method: String? = nil
    ) -> OperationCase {
        OperationCase(name) { world in
            // The credential's last use is on record by then.
            _ = try await world.service.admin("config", version: "v2")
            return { try await world.service.admin(path, body, method: method, version: "v2") }
        }
    }
}
