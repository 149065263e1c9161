import HTTPTypes
import Projects
import Secrets
import Storage

/// `projects/{p}/tenants`: the tenants of a project.
struct TenantRoutes {
    let configuration: ConfigurationStore
    var random = RandomSource.system

    var routes: [Route] {
        let path = "/v2/projects/{project}/tenants"
        return [
            Route(.get, path, errors: .status, .admin(.manageConfiguration, list)),
            Route(.post, path, errors: .status, .admin(.manageConfiguration, create)),
            Route(.get, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, get)),
            Route(.patch, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, patch)),
            Route(.delete, path + "/{tenant}", errors: .status, .admin(.manageConfiguration, delete)),
        ]
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let size = try call.pageSize("pageSize", default: 20, maximum: 1000)
        let after = try call.call.query.value("pageToken") ?? ""
        let all = call.project.tenants.values.filter { $0.configuration.id.rawValue > after }
            .sorted { $0.configuration.id.rawValue < $1.configuration.id.rawValue }
        let page = all.prefix(size == 0 ? 20 : size)
        return .json { json in
            guard !page.isEmpty else { return }
            json.array("tenants") { json in
                for tenant in page { json.object { $0.tenant(tenant.configuration, in: tenant.project) } }
            }
            if page.count < all.count { json.member("nextPageToken", page.last?.configuration.id.rawValue) }
        }
    }

    private func get(_ call: AdminCall) async throws -> Response {
        try answer(call.tenant, of: call.project.id)
    }

    private func create(_ call: AdminCall) async throws -> Response {
        // Firebase's error for a project without multi-tenancy.
        guard call.project.settings.allowsTenants else { throw WireError("INVALID_PROJECT_ID") }
        let body = try call.json()
        let name = try Self.displayName(body)
        let members = try SettingsMember.ofTenant.filter { try $0.isGiven(in: body) }
        let suffix = random.text(5, of: "abcdefghijklmnopqrstuvwxyz0123456789")
        var tenant = TenantConfiguration(
            id: TenantID(rawValue: "\(name ?? "tenant")-\(suffix)"),
            displayName: name,
            isDisabled: try body.bool("disableAuth") ?? false,
            settings: TenantSettings(of: call.project.settings)
        )
        try Self.apply(body, members, to: &tenant, of: call.project)
        try await configuration.createTenant(tenant, in: call.project.id)
        return try answer(tenant.id, of: call.project.id)
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let mask = FieldMask(try call.call.query.value("updateMask"))
        let members = SettingsMember.ofTenant.filter { mask.contains($0.path) }
        do {
            _ = try await configuration.updateTenant(call.tenant, in: call.project.id) { tenant in
                if mask.contains("displayName") { tenant.displayName = try Self.displayName(body) }
                if mask.contains("disableAuth") { tenant.isDisabled = try body.bool("disableAuth") ?? false }
                try Self.apply(body, members, to: &tenant, of: call.project)
            }
        } catch ConfigurationError.notFound {
            throw WireError.tenantNotFound
        }
        return try answer(call.tenant, of: call.project.id)
    }

    private func delete(_ call: AdminCall) async throws -> Response {
        do {
            try await configuration.deleteTenant(call.tenant, of: call.project.id)
        } catch ConfigurationError.notFound {
            throw WireError.tenantNotFound
        }
        return .json { _ in }
    }

    /// The changed tenant.
    private func answer(_ tenant: TenantID, of project: ProjectID) throws -> Response {
        guard let tenant = configuration.snapshot.project(project)?.tenants[tenant] else {
            throw WireError.tenantNotFound
        }
        return .json { $0.tenant(tenant.configuration, in: tenant.project) }
    }

    private static func displayName(_ body: WireObject) throws -> String? {
        guard let name = try body.string("displayName") else { return nil }
        guard TenantConfiguration.isDisplayName(name) else {
            throw WireError(
                "INVALID_CONFIG",
                "displayName must be 4 to 20 letters, digits and hyphens, starting with a letter."
            )
        }
        return name
    }

    /// - Parameter project: with or without a tenant's settings, which are replaced.
    private static func apply(
        _ body: WireObject,
        _ members: [SettingsMember],
        to tenant: inout TenantConfiguration,
        of project: Project
    ) throws {
        var settings = project.settings.inTenant(tenant.settings)
        for member in members { try member.apply(body, to: &settings) }
        tenant.settings = TenantSettings(in: settings)
    }
}

extension JSONWriter {
    /// The members of a tenant; as in Firebase, flags are omitted if false.
    fileprivate mutating func tenant(_ tenant: TenantConfiguration, in project: Project) {
        let settings = project.settings
        member("name", "projects/\(project.number)/tenants/\(tenant.id)")
        member("displayName", tenant.displayName)
        member("allowPasswordSignup", ifTrue: settings.passwordSignIn)
        member("enableEmailLinkSignin", ifTrue: settings.allowsEmailLink)
        member("enableAnonymousUser", ifTrue: settings.anonymousSignIn)
        member("disableAuth", ifTrue: tenant.isDisabled)
        hashConfig(settings.passwordCost)
        object("mfaConfig") { $0.secondFactors(settings.secondFactors) }
        testPhoneNumbers(settings.phone.testNumbers)
        clientPermissions(settings)
        smsRegions(settings.phone.regions)
        object("passwordPolicyConfig") { $0.passwordPolicy(settings.passwordPolicy) }
        object("emailPrivacyConfig") { json in
            json.member("enableImprovedEmailPrivacy", ifTrue: settings.emailEnumerationProtection)
        }
    }
}
