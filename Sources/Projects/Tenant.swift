/// What an admin entered for a tenant of a project.
package struct TenantConfiguration: Sendable, Hashable {
    package var id: TenantID
    package var displayName: String?
    /// `disableAuth`: nobody signs in, and admins do nothing with the accounts.
    package var isDisabled: Bool
    package var settings: TenantSettings

    package init(id: TenantID, displayName: String? = nil, isDisabled: Bool = false, settings: TenantSettings) {
        self.id = id
        self.displayName = displayName
        self.isDisabled = isDisabled
        self.settings = settings
    }

    /// 4 to 20 letters, digits and hyphens, the first a letter.
    package static func isDisplayName(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-zA-Z][a-zA-Z0-9-]{3,19}/) != nil
    }
}

/// A tenant of a project: accounts and providers of its own, which never meet those of another tenant or of the project.
package struct Tenant: Sendable {
    package let configuration: TenantConfiguration
    /// The project as it is for whoever is in the tenant: with the tenant's settings, and without tenants.
    package let project: Project
}
