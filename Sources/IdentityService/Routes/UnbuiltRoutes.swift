import HTTPTypes

/// Operations of the protocol that are not implemented: 501 instead of 404, so that callers know.
enum UnbuiltRoutes {
    static let routes: [Route] = accounts + configuration

    private static let accounts: [Route] =
        ["signInWithGameCenter", "issueSamlResponse"]
        .map { (method: String) in Route(.post, "/v1/accounts:\(method)", legacy: method, .unbuilt) }
        + ["signOutUser", "setProjectConfig"].map { method in
            Route(.post, "/identitytoolkit/v3/relyingparty/\(method)", on: .googleAPIs, .unbuilt)
        }

    private static let configuration: [Route] =
        [
            "projects/{project}/tenants/{tenant}:getIamPolicy", "projects/{project}/tenants/{tenant}:setIamPolicy",
            "projects/{project}/tenants/{tenant}:testIamPermissions",
        ]
        .map { Route(.post, "/v2/\($0)", errors: .status, .unbuilt) }
        + [Route(.get, "/v2/defaultSupportedIdps", errors: .status, .unbuilt)]
}
