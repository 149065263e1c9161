package import Projects

/// An admin's call whose credential is valid for the project and the operation.
package struct AdminCall: Sendable {
    package var call: Call
    package var admin: AdminCredential
    /// The project, or the tenant that the call names.
    package var project: Project

    /// - Parameter project: from the path or the API key.
    /// - Throws: `TENANT_ID_MISMATCH` if the path and the body or query name different tenants; 404
    ///   `TENANT_NOT_FOUND`; `PROJECT_DISABLED` for the accounts of a disabled tenant.
    package init(call: Call, admin: AdminCredential, project: Project, scope: AdminScope) throws {
        self.call = call
        self.admin = admin
        let ofPath = call.parameters["tenant"].map { TenantID(rawValue: $0) }
        let named = try call.tenantNamed()
        if let ofPath, let named, named != ofPath { throw WireError("TENANT_ID_MISMATCH") }
        guard let tenant = ofPath ?? named else {
            self.project = project
            return
        }
        guard let found = project.tenants[tenant] else { throw WireError.tenantNotFound }
        guard scope == .manageConfiguration || !found.configuration.isDisabled else {
            throw WireError("PROJECT_DISABLED")
        }
        self.project = found.project
    }

    package var tenant: TenantID { project.tenant }

    /// The body, which may repeat the path's tenant.
    package func json() throws -> WireObject { try call.json() }
}
