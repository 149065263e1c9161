import HTTPTypes

/// The URL at which browsers reach this service's pages.
package struct OwnPages: Sendable {
    private let urlForCall: @Sendable (Call) -> String?

    /// - Parameter url: without a trailing `/`; nil if it is not configured.
    package init(_ url: @escaping @Sendable (Call) -> String?) { urlForCall = url }

    /// - Throws: `OPERATION_NOT_ALLOWED` without one.
    func url(for call: Call) throws(WireError) -> String {
        guard let url = urlForCall(call) else {
            throw WireError("OPERATION_NOT_ALLOWED", "Set http.publicURL to use this page.")
        }
        return url
    }
}
