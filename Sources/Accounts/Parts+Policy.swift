import Federation
import Linking
import Projects
import Storage

extension Parts {
    func configuration(of credential: FederatedCredential, _ caller: Caller) -> ProviderConfiguration? {
        configuration.snapshot.provider(
            credential.identity.provider,
            project: caller.project.id,
            tenant: caller.tenant
        )
    }

    /// What the project decides about a credential.
    func policy(for credential: FederatedCredential, _ caller: Caller) -> LinkingPolicy {
        let settings = caller.project.settings
        let trust = federation.emailTrust(
            for: credential,
            configuration: configuration(of: credential, caller),
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
