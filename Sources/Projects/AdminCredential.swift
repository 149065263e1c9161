/// A bearer token for the admin API, from `identity admin-keys create`.
///
/// On the wire it is `idk_<id>_<secret>`; the database stores the SHA-256 of the whole text.
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

    /// Whether it has `scope` in a project, at `now` (seconds since 1970).
    package func allows(_ scope: AdminScope, in project: ProjectID, now: Int64) -> Bool {
        !disabled && scopes.contains(scope) && (self.project == nil || self.project == project)
            && (expiresAt.map { now < $0 } ?? true)
    }
}

package enum AdminScope: String, Sendable, Hashable, CaseIterable {
    case readAccounts = "accounts.read"
    case manageAccounts = "accounts.manage"
    case manageConfiguration = "configuration.manage"
    /// Sign in any user.
    case mintCustomTokens = "custom_tokens.mint"
}
