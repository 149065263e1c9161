import Projects
import Secrets

/// A secret that the browser keeps while the user is at a provider: the project's number, the tenant if there is one,
/// and a random handle.
///
/// It alone shows that the browser that returns is the one that started (T-B1); the database stores its hash.
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

    /// The session ID that the web SDK presents at the end, derived from the browser's secret.
    static func sessionID(of secret: Secret) -> String {
        SecureHash.sha256Hex("sessionId." + secret.reveal())
    }
}
