import Projects
import Secrets

/// What a browser keeps while its person is at a provider: the project's number, the tenant if there is one, and a random
/// handle.
///
/// It alone shows that the browser which comes back is the one that began (T-B1); the database has its hash.
enum BrowserSecret {
    static func make(for caller: Caller, _ random: RandomSource) -> Secret {
        let tenant = caller.tenant == .none ? "" : "\(caller.tenant)."
        return Secret("\(caller.project.number).\(tenant)\(random.handle())")
    }

    static func place(in secret: Secret) -> (project: ProjectNumber, tenant: TenantID)? {
        let parts = secret.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let number = Int64(parts[0]) else { return nil }
        let tenant = parts.count == 3 ? TenantID(rawValue: String(parts[1])) : .none
        return (ProjectNumber(rawValue: number), tenant)
    }

    /// What the web SDK shows at the end, which nobody has but that browser.
    static func sessionID(of secret: Secret) -> String {
        SecureHash.sha256Hex("sessionId." + secret.reveal())
    }
}
