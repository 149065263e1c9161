import Text

/// The query parameters of the protocol's routes: a route's own, in Google's two spellings, and the standard ones of its
/// discovery documents.
///
/// Any other is refused, because what it should do would be lost: a misspelt `updateMask` is no mask. Pages, callbacks and
/// the endpoints of OAuth ignore unknown ones (RFC 6749 §3.1).
enum QueryParameters {
    /// Taken, and without an effect but for `key`; a token in a URL is no credential.
    private static let standard: Set<String> = [
        "key", "alt", "fields", "prettyPrint", "quotaUser", "userProject", "access_token", "oauth_token", "callback",
        "uploadType", "upload_protocol",
    ]

    /// The query with the names that the route reads.
    static func read(_ query: FormFields, by route: Route) throws(WireError) -> FormFields {
        guard route.host != .service || route.path.hasPrefix("/emulator/v1/"), !query.pairs.isEmpty else {
            return query
        }
        var pairs: [(name: String, value: String)] = []
        for (name, value) in query.pairs {
            if standard.contains(name) || name.hasPrefix("$") {
                pairs.append((name, value))
                continue
            }
            let camel = WireObject.name(sent: name)
            guard route.query.contains(camel) else {
                throw .invalidRequest(
                    "Invalid JSON payload received. Unknown name \"\(name.prefix(128))\": Cannot bind query parameter.",
                    field: nil
                )
            }
            pairs.append((camel, value))
        }
        let fields = FormFields(pairs)
        guard try fields.value("alt") ?? "json" == "json" else {
            throw .invalidRequest("The only format of answers is alt=json.", field: "alt")
        }
        return fields
    }
}
