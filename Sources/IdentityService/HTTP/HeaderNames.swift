package import HTTPTypes

extension HTTPField.Name {
    static let apiKey = named("x-goog-api-key")
    static let bundleID = named("x-ios-bundle-identifier")
    static let crossOriginOpenerPolicy = named("cross-origin-opener-policy")
    /// RFC 9449 §4.1.
    static let dpop = named("dpop")
    static let firebaseLocale = named("x-firebase-locale")
    /// Our requests have headers as received; HTTPTypes would use `:authority`.
    package static let hostField = named("host")
    /// The address of a visitor, from a back end that calls for them.
    static let clientAddress = named("identity-client-address")
    static let requestID = named("x-request-id")
    static let requestReason = named("x-goog-request-reason")
    static let forwardedFor = named("x-forwarded-for")
    /// The origin of the page that sends a request (Fetch Metadata, W3C).
    static let secFetchSite = named("sec-fetch-site")
    static let secFetchMode = named("sec-fetch-mode")
    static let secFetchUser = named("sec-fetch-user")
    static let secFetchDest = named("sec-fetch-dest")
    static let referrerPolicy = named("referrer-policy")
    static let requestPrivateNetwork = named("access-control-request-private-network")
    static let allowPrivateNetwork = named("access-control-allow-private-network")

    /// - Parameter text: a token of RFC 9110 §5.6.2, which all of the above are.
    private static func named(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .xContentTypeOptions }
}
