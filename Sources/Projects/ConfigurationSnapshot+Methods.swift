package import Linking
import Passkeys

extension ConfigurationSnapshot {
    /// The enabled sign-in methods of a project, or of one of its tenants.
    ///
    /// - Parameter unconfigured: methods that are usable without a configuration of their provider: in `identity dev`,
    ///   all
    ///   that the account has.
    package func usableMethods(
        of project: Project,
        tenant: TenantID = .none,
        unconfigured: Set<ProviderID> = []
    ) -> Set<ProviderID> {
        let providers = providers(project: project.id, tenant: tenant)
        var usable = Set(providers.filter(\.enabled).map(\.provider))
        let configured = Set(providers.map(\.provider))
        usable.formUnion(unconfigured.filter { $0.isFederated && !configured.contains($0) })
        if project.settings.passwordSignIn { usable.insert(.password) }
        if project.settings.emailLinkSignIn { usable.insert(.emailLink) }
        if project.settings.phone.isEnabled { usable.insert(.phone) }
        if project.settings.passkeys.relyingParty != nil { usable.insert(.passkey) }
        return usable
    }

    /// The projects that have a host as the RP ID of passkeys, themselves or in a tenant.
    package func projects(withPasskeysAt host: String) -> [Project] {
        allProjects.filter {
            $0.hasPasskeys(at: host) || $0.tenants.values.contains { $0.project.hasPasskeys(at: host) }
        }
    }
}

extension Project {
    /// Whether passkeys are bound to the host; its tenants may have others.
    package func hasPasskeys(at host: String) -> Bool { settings.passkeys.relyingParty?.id == host }
}
