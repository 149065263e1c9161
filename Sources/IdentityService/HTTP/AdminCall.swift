package import Projects

/// A call of an admin: the credential is good for the project and the operation.
package struct AdminCall: Sendable {
    package var call: Call
    package var admin: AdminCredential
    package var project: Project
    package var tenant: TenantID

    package init(call: Call, admin: AdminCredential, project: Project, tenant: TenantID = .none) {
        self.call = call
        self.admin = admin
        self.project = project
        self.tenant = tenant
    }

    /// The body, which may repeat the tenant of the path.
    /// - Throws: `TENANT_ID_MISMATCH`.
    package func json() throws -> WireObject {
        let body = try call.json()
        if let named = try body.string("tenantId"), named != tenant.rawValue { throw WireError("TENANT_ID_MISMATCH") }
        return body
    }
}
