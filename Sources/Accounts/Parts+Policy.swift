import Federation
import Linking
import Projects
import Storage

extension Parts {
    /// A provider as the caller's project or tenant has it; nil when it has none of that id.
    func provider(_ id: ProviderID, _ caller: Caller) -> ProviderConfiguration? {
        configuration.snapshot.provider(id, project: caller.project.id, tenant: caller.tenant)
    }

    /// Of the account's sign-in methods and all others, those that work.
    func usableMethods(of account: Account, _ caller: Caller) -> Set<ProviderID> {
        configuration.snapshot.usableMethods(
            of: caller.project,
            tenant: caller.tenant,
            unconfigured: development ? account.methods : []
        )
    }

    /// What the project decides about a credential.
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
