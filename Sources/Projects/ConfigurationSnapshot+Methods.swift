package import Linking

extension ConfigurationSnapshot {
    /// The sign-in methods that a project, or one of its tenants, has switched on.
    package func usableMethods(of project: Project, tenant: TenantID = .none) -> Set<ProviderID> {
        var usable = Set(providers(project: project.id, tenant: tenant).filter(\.enabled).map(\.provider))
        if project.settings.passwordSignIn { usable.insert(.password) }
        if project.settings.emailLinkSignIn { usable.insert(.emailLink) }
        if project.settings.phone.isEnabled { usable.insert(.phone) }
        return usable
    }
}
