/// An admin's configuration of a tenant of a project.
package struct TenantConfiguration: Sendable, Hashable {
    package var id: TenantID
    package var displayName: String?
    /// `disableAuth`: users cannot sign in, and admins cannot access the accounts.
    package var isDisabled: Bool
    package var settings: TenantSettings

    package init(id: TenantID, displayName: String? = nil, isDisabled: Bool = false, settings: TenantSettings) {
        self.id = id
        self.displayName = displayName
        self.isDisabled = isDisabled
        self.settings = settings
    }

    /// 4 to 20 letters, digits and hyphens, starting with a letter.
    package static func isDisplayName(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-zA-Z][a-zA-Z0-9-]{3,19}/) != nil
    }
}

/// A tenant of a project: it has separate accounts and providers.
package struct Tenant: Sendable {
    package let configuration: TenantConfiguration
    /// The project with the tenant's settings, and without tenants.
    package let project: Project
}
