import Domain
import Federation
import Projects
import Storage

extension AccountsService {
    /// A provider in the caller's project or tenant; nil if it is not configured.
    func provider(_ id: ProviderID, _ caller: Caller) -> ProviderConfiguration? {
        configuration.snapshot.provider(id, in: caller.scope)
    }

    /// All enabled methods, among those of the account and the others.
    func usableMethods(of account: Account, _ caller: Caller) -> Set<ProviderID> {
        configuration.snapshot.usableMethods(
            of: caller.project,
            unconfigured: options.development ? account.methods : []
        )
    }

    /// The project's linking policy for a credential.
    func policy(for credential: FederatedCredential, _ caller: Caller) -> LinkingPolicy {
        let settings = caller.project.settings
        let trust = federation.emailTrust(
            for: credential,
            configuration: provider(credential.identity.provider, caller),
            strict: settings.strictEmailTrust
        )
        return LinkingPolicy(
            oneAccountPerEmail: !settings.allowDuplicateEmails,
            emailTrust: trust,
            signUpAllowed: !settings.disabledUserSignup,
            linking: settings.linking
        )
    }
}
