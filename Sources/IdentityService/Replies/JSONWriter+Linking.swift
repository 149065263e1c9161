import Accounts
import Domain

extension JSONWriter {
    /// The response of `accounts:explainSignIn`.
    mutating func explanation(_ explanation: ExplainSignIn.Explanation) {
        member("row", explanation.row.rawValue)
        member("reason", explanation.row.reason)
        switch explanation.decision {
        case .signIn(let account), .adoptEmail(let account, _, _): decision("signIn", account)
        case .signUp(_, _, let displaced): decision("signUp", displaced)
        case .link(let account, let replaced):
            decision("link", account)
            member("replacedRawId", replaced)
        case .takeOver(let account): decision("takeOver", account)
        case .conflict(let account, let providers):
            decision("conflict", account)
            member("verifiedProvider", strings: providers.isEmpty ? nil : providers.map(\.rawValue))
        case .refuse(let refusal):
            decision("refuse", nil)
            member("errorMessage", WireError(AccountsError(refusal)).message)
        }
        member("emailProven", explanation.provesEmail)
        member("emailTrust", explanation.emailTrust.wireName)
        candidate("identityOwner", explanation.owner)
        candidate("emailOwner", explanation.emailOwner)
    }

    private mutating func decision(_ name: String, _ account: AccountID?) {
        member("decision", name)
        member("localId", account?.rawValue)
    }

    private mutating func candidate(_ name: String, _ account: Account?) {
        guard let account else { return }
        object(name) { json in
            json.member("localId", account.id.rawValue)
            json.member("email", account.email?.canonical)
            json.member("emailVerified", account.emailVerified)
            json.member("disabled", ifTrue: account.isDisabled)
            json.providers(of: account)
        }
    }

    /// `detachedCredentials[]`; times in milliseconds since 1970.
    mutating func detachedCredentials(_ credentials: [DetachedCredential]) {
        array("detachedCredentials") { json in
            for credential in credentials {
                json.object { json in
                    json.member("providerId", credential.provider.rawValue)
                    json.member("rawId", credential.subject)
                    json.member("email", credential.email)
                    json.member("displayName", credential.displayName)
                    json.member("linkedAt", int64: credential.linkedAt?.milliseconds)
                    json.member("reason", credential.reason.rawValue)
                    json.member("detachedAt", int64: credential.detachedAt.milliseconds)
                    json.object("detachedBy") { json in
                        json.member("providerId", credential.byProvider.rawValue)
                        json.member("rawId", credential.bySubject)
                    }
                }
            }
        }
    }
}

extension EmailTrust {
    /// The name in `definition.emailTrust`.
    fileprivate var wireName: String {
        switch self {
        case .always: "always"
        case .never: "never"
        case .claim: "claim"
        case .domains: "domains"
        }
    }
}
