package import Linking

extension ConfigurationSnapshot {
    /// The sign-in methods that a project, or one of its tenants, has switched on.
    ///
    /// - Parameter unconfigured: methods of which a provider without a configuration is usable too: in `identity dev` all
    ///   that are held.
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
        return usable
    }
}
