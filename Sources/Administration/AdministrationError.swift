/// Why a change of the configuration was refused.
package enum AdministrationError: Error, Sendable, Equatable {
    /// A value breaks the rule that the text states for the admin.
    case invalid(String)
    /// The configuration changed after the admin read it.
    case changedMeanwhile
    /// Only an admin of every project may change this setting.
    case ofServiceOnly(setting: String)
    case invalidProviderID
    case missingClientID
    case missingIssuer
    /// A SAML provider without our entity ID and callback URL.
    case missingRelyingParty
    case tenantNotFound
    /// The project's setting `multiTenant.allowTenants` is off.
    case tenantsNotAllowed
}
