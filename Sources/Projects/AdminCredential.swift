/// What may use the admin API: an admin key, a service account's key, a workload or an admin of the console.
///
/// The bearer token of an admin key is `idk_<id>_<secret>`; the database stores the SHA-256 of the whole text.
package struct AdminCredential: Sendable, Hashable {
    package var id: String
    package var name: String
    /// Nil for every project.
    package var project: ProjectID?
    package var scopes: Set<AdminScope>
    /// Seconds since 1970; nil if it does not expire.
    package var expiresAt: Int64?
    package var disabled: Bool

    package init(
        id: String,
        name: String,
        project: ProjectID?,
        scopes: Set<AdminScope>,
        expiresAt: Int64? = nil,
        disabled: Bool = false
    ) {
        self.id = id
        self.name = name
        self.project = project
        self.scopes = scopes
        self.expiresAt = expiresAt
        self.disabled = disabled
    }

    /// Whether it is valid at `now` (seconds since 1970).
    package func isCurrent(now: Int64) -> Bool { !disabled && expiresAt.map { now < $0 } ?? true }

    /// Whether it has `scope` in a project, at `now` (seconds since 1970).
    package func allows(_ scope: AdminScope, in project: ProjectID, now: Int64) -> Bool {
        isCurrent(now: now) && scopes.contains(scope) && (self.project == nil || self.project == project)
    }
}

package enum AdminScope: String, Sendable, Hashable, CaseIterable {
    case readAccounts = "accounts.read"
    case manageAccounts = "accounts.manage"
    case manageConfiguration = "configuration.manage"
    /// Sign in any user.
    case mintCustomTokens = "custom_tokens.mint"
}
