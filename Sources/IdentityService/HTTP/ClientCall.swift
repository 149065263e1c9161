package import Accounts
import HTTPTypes
import Projects
import Sessions

/// A client's call: the API key names its project, and the call itself may name a tenant.
package struct ClientCall: Sendable {
    package var call: Call
    package var caller: Caller

    /// The body; a tenant in it is the caller's.
    package func json() throws -> WireObject { try call.json() }
}

extension Call {
    /// `tenantId`: in the body, or in the query if there is no body.
    func tenantNamed() throws -> TenantID? {
        let name =
            switch method {
            case .post, .patch: try json().text("tenantId")
            default: try query.value("tenantId")
            }
        return name.flatMap { $0.isEmpty ? nil : TenantID(rawValue: $0) }
    }

    /// The tenant of a client's call: the one that it names, otherwise that of its ID token.
    ///
    /// The token is not verified yet: its tenant only determines where it must be valid.
    func tenant(of project: Project) throws -> TenantID {
        if let named = try tenantNamed() { return named }
        guard !project.tenants.isEmpty, method == .post, let idToken = try json().text("idToken"),
            let tenant = IDTokenContent.claimedTenant(of: idToken), project.tenants[tenant] != nil
        else { return .none }
        return tenant
    }
}

extension Caller {
    /// The caller, after its API key named the project.
    init(_ call: Call, project: Project, apiKey: String?, language: String? = nil) {
        self.init(
            project: project,
            userAgent: call.device.userAgent,
            addressPrefix: call.device.addressPrefix,
            address: call.device.address,
            subscriber: call.device.subscriber,
            site: call.device.site,
            apiKey: apiKey,
            language: language
        )
        longestIDToken = call.longestIDToken
        isVouchedFor = call.headers[.clientAddress] != nil
        origin = call.headers[.origin]
        host = call.host
        isPartOfForeignPage =
            call.headers[.secFetchSite] == "cross-site"
            && (call.headers[.secFetchDest] ?? "document" != "document" || call.headers[.secFetchUser] != "?1")
    }
}
