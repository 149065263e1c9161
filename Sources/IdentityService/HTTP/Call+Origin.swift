import HTTPTypes
import Projects

/// Whose page sent a request: browsers state it, and no page can forge that.
extension Call {
    /// Whether it is a page of the origin that it calls, by Fetch Metadata.
    ///
    /// - Parameter isOwn: says it from `Origin` for browsers that state no more.
    func isSameOrigin(else isOwn: (_ origin: String?) -> Bool) -> Bool {
        headers[.secFetchSite].map { $0 == "same-origin" } ?? isOwn(headers[.origin])
    }

    func isFromOwnPage(_ own: PublicURL) -> Bool { isSameOrigin { $0 == own.text } }
}
