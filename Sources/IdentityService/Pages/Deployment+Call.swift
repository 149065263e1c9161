import Projects

extension Deployment {
    /// Where the browser of a request finds this service's pages.
    ///
    /// - Throws: `OPERATION_NOT_ALLOWED` if it is not configured.
    func pages(for call: Call) throws(WireError) -> PublicURL {
        guard let url = pages(at: call.host) else {
            throw WireError("OPERATION_NOT_ALLOWED", "Set http.publicURL to use this page.")
        }
        return url
    }
}
