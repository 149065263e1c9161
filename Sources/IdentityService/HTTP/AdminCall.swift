package import Projects

/// A call of an admin: the credential is good for the project and the operation.
package struct AdminCall: Sendable {
    package var call: Call
    package var admin: AdminCredential
    /// As it is in ``tenant``, if that is one.
    package var project: Project
    package var tenant: TenantID

    /// - Parameter project: of the path, or of the API key.
    /// - Throws: `TENANT_ID_MISMATCH` when the path names one tenant and the body or the query another; 404
    ///   `TENANT_NOT_FOUND`; `PROJECT_DISABLED` for the accounts of a tenant that is switched off.
    package init(call: Call, admin: AdminCredential, project: Project, scope: AdminScope) throws {
        self.call = call
        self.admin = admin
        let ofPath = call.parameters["tenant"].map { TenantID(rawValue: $0) }
        let named = try call.tenantNamed()
        if let ofPath, let named, named != ofPath { throw WireError("TENANT_ID_MISMATCH") }
        guard let tenant = ofPath ?? named else {
            self.project = project
            self.tenant = .none
            return
        }
        guard let found = project.tenants[tenant] else { throw WireError.tenantNotFound }
        guard scope == .manageConfiguration || !found.configuration.isDisabled else {
            throw WireError("PROJECT_DISABLED")
        }
        self.project = found.project
        self.tenant = tenant
    }

    /// The body, which may repeat the tenant of the path.
    package func json() throws -> WireObject { try call.json() }
}
