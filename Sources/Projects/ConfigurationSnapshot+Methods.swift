package import Domain

extension ConfigurationSnapshot {
    /// The enabled sign-in methods of a project, or of one of its tenants.
    ///
    /// - Parameter unconfigured: methods that are usable without a configuration of their provider: in `identity dev`,
    ///   all
    ///   that the account has.
    package func usableMethods(
        of project: Project,
        unconfigured: Set<ProviderID> = []
    ) -> Set<ProviderID> {
        let providers = providers(in: project.scope)
        var usable = Set(providers.filter(\.enabled).map(\.provider))
        let configured = Set(providers.map(\.provider))
        usable.formUnion(unconfigured.filter { $0.isFederated && !configured.contains($0) })
        if project.settings.passwordSignIn { usable.insert(.password) }
        if project.settings.emailLinkSignIn { usable.insert(.emailLink) }
        if project.settings.phone.isEnabled { usable.insert(.phone) }
        if project.settings.passkeys.relyingParty != nil { usable.insert(.passkey) }
        return usable
    }
}
