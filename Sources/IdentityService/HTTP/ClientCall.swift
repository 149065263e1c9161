package import Accounts
import Projects

/// A call of an app: the API key named its project.
package struct ClientCall: Sendable {
    package var call: Call
    package var caller: Caller

    package init(call: Call, caller: Caller) {
        self.call = call
        self.caller = caller
    }

    /// The body, for this caller's tenant.
    /// - Throws: `INVALID_TENANT_ID` for a tenant that does not exist.
    package func json() throws -> WireObject {
        let body = try call.json()
        if let tenant = try body.string("tenantId"), !tenant.isEmpty { throw WireError("INVALID_TENANT_ID") }
        return body
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
