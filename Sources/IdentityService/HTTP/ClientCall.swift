package import Accounts
import HTTPTypes
import Projects
import Sessions

/// A call of an app: the API key named its project, the call itself perhaps a tenant of that.
package struct ClientCall: Sendable {
    package var call: Call
    package var caller: Caller

    package init(call: Call, caller: Caller) {
        self.call = call
        self.caller = caller
    }

    /// The body; the tenant that it names is the caller's.
    package func json() throws -> WireObject { try call.json() }
}

extension Call {
    /// `tenantId`: in the body, or in the query of what has none.
    func tenantNamed() throws -> TenantID? {
        let name =
            switch method {
            case .post, .patch: try json().string("tenantId")
            default: try query.value("tenantId")
            }
        return name.flatMap { $0.isEmpty ? nil : TenantID(rawValue: $0) }
    }

    /// The tenant of an app's call: the one that it names, or else that of its ID token.
    ///
    /// The token has not been verified: what it says here decides in which tenant it will have to be good.
    func tenant(of project: Project) throws -> TenantID {
        if let named = try tenantNamed() { return named }
        guard !project.tenants.isEmpty, method == .post, let idToken = try json().string("idToken"),
            let tenant = IDTokenContent.claimedTenant(of: idToken), project.tenants[tenant] != nil
        else { return .none }
        return tenant
    }
}

extension Caller {
    /// Who makes a call, once its API key has named the project.
    init(_ call: Call, project: Project, apiKey: String?, language: String? = nil) {
        self.init(
            project: project,
            userAgent: call.device.userAgent,
            addressPrefix: call.device.addressPrefix,
            address: call.device.address,
            subscriber: call.device.subscriber,
            apiKey: apiKey,
            language: language
        )
    }
}
