import Administration
import HTTPTypes
import Projects

/// `projects/{p}/config`: a project's settings.
struct SettingsRoutes {
    let changeSettings: ChangeSettings

    var routes: [Route] {
        let path = "/v2/projects/{project}/config"
        return [
            Route(.get, path, errors: .status, isInTenants: false, .admin(.manageConfiguration, get)),
            Route(
                .patch,
                path,
                errors: .status,
                query: ["updateMask"],
                isInTenants: false,
                .admin(.manageConfiguration, patch)
            ),
            // Terraform's first step; a project here always has sign-in.
            Route(
                .post,
                "/v2/projects/{project}/identityPlatform:initializeAuth",
                errors: .status,
                isInTenants: false,
                .admin(.manageConfiguration) { _ in .json { _ in } }
            ),
        ]
    }

    private static let members = Setting.members(Setting.ofProject, others: readOnly)

    /// What admins may send back as they read it.
    private static let readOnly =
        [
            "name", "subtype", "defaultHostingSite", "client.apiKey", "client.firebaseSubdomain",
            "signIn.hashConfig.algorithm", "signIn.hashConfig.saltSeparator",
            "signIn.hashConfig.signerKey", "passwordPolicyConfig.lastUpdateTime",
            "notification.sendSms.smsTemplate.content",
        ] + (MailSettings.templates + ["legacyResetPasswordTemplate"]).map { "notification.sendEmail.\($0).customized" }

    private func get(_ call: AdminCall) async throws -> Response {
        .json { $0.settings(of: call.project) }
    }

    private func patch(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        try Self.members.check(body)
        let changes = try call.updateMask(of: body) { Setting.kind($0, of: Setting.ofProject) }
            .changes(of: Setting.ofProject, in: body, others: Self.readOnly)
        let project = try await changeSettings(
            changes,
            of: call.project.id,
            isOfService: call.admin.project == nil
        )
        return .json { $0.settings(of: project) }
    }
}
