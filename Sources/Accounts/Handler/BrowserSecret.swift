import Projects
import Secrets

/// What a browser keeps while its person is at a provider: the project's number and a random handle.
///
/// It alone shows that the browser which comes back is the one that began (T-B1); the database has its hash.
enum BrowserSecret {
    static func make(for project: Project, _ random: RandomSource) -> Secret {
        Secret("\(project.number).\(random.handle())")
    }

    static func projectNumber(in secret: Secret) -> ProjectNumber? {
        Int64(secret.reveal().prefix { $0 != "." }).map { ProjectNumber(rawValue: $0) }
    }

    /// What the web SDK shows at the end, which nobody has but that browser.
    static func sessionID(of secret: Secret) -> String {
        SecureHash.sha256Hex("sessionId." + secret.reveal())
    }
}
