package import StrictJSON
import Text

/// What a client says of itself, checked: the members of RFC 7591 §2 and OpenID Connect Dynamic Client Registration 1.0
/// §2 that the service uses.
///
/// The admin API, registration and metadata documents read and write it alike.
package struct ClientMetadata: Sendable, Hashable {
    /// At most 128 characters.
    package var name: String?
    package var redirectURIs: [RedirectURI] = []
    /// Where a browser may go after its user signed out (OpenID Connect RP-Initiated Logout 1.0 §3.1).
    package var logoutURIs: [RedirectURI] = []
    package var grantTypes: Set<GrantType> = [.authorizationCode]
    package var authentication = Authentication.secretBasic
    /// The scopes that it may request; nil for all.
    package var scopes: [String]?
    /// Where the service says that a user's session has ended (OpenID Connect Back-Channel Logout 1.0 §2.2).
    package var backChannelLogoutURI: String?
    /// Its public keys for `private_key_jwt`: a JWK set, or the URL of one.
    package var keys: Keys?
    package var clientURI: String?
    package var policyURI: String?
    package var termsURI: String?

    package enum GrantType: String, Sendable, Hashable, CaseIterable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        /// RFC 8628.
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
        /// RFC 8693; only for clients that an admin registered.
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    }

    /// `token_endpoint_auth_method`.
    package enum Authentication: String, Sendable, Hashable, CaseIterable {
        /// A public client: an app on a device or in a browser, which can keep no secret.
        case none
        case secretBasic = "client_secret_basic"
        case secretPost = "client_secret_post"
        /// A JWT that its own key signed (OpenID Connect Core 1.0 §9, RFC 7523).
        case privateKeyJWT = "private_key_jwt"

        package var needsSecret: Bool { self == .secretBasic || self == .secretPost }
    }

    package enum Keys: Sendable, Hashable {
        case set(JSONValue)
        case url(String)
    }

    package init() {}

    /// The most that a client may register of anything.
    private static let limit = 50
    /// Bytes of all members as JSON: nodes keep a thousand clients in memory, whoever made them.
    private static let maximumSize = 16_384

    /// - Throws: ``OAuthError`` if it is larger than what is kept of a client.
    package func checkSize() throws(OAuthError) {
        guard JSONObject(members).jsonText.utf8.count <= Self.maximumSize else {
            throw OAuthError(.invalidClientMetadata, "The metadata is limited to 16 KB")
        }
    }

    /// - Parameter members: null is absent, as in a client's document.
    package init(_ members: JSONObject) throws(OAuthError) {
        let object = members.withoutNulls
        name = try Self.text("client_name", in: object).map { String($0.prefix(128)) }
        if let types = try Self.texts("grant_types", in: object) {
            // A client may list what it can do; the answer lists what it can use here (§3.2.1).
            grantTypes = Set(types.compactMap { GrantType(rawValue: $0) })
            guard !grantTypes.subtracting([.refreshToken]).isEmpty else {
                throw OAuthError(.invalidClientMetadata, "grant_types must contain one that discovery lists")
            }
        }
        if let types = try Self.texts("response_types", in: object), !types.isEmpty, !types.contains("code") {
            throw OAuthError(.invalidClientMetadata, "response_types must contain code")
        }
        redirectURIs = try Self.redirectURIs("redirect_uris", in: object)
        logoutURIs = try Self.redirectURIs("post_logout_redirect_uris", in: object)
        guard !redirectURIs.isEmpty || !grantTypes.contains(.authorizationCode) else {
            throw OAuthError(.invalidRedirectURI, "redirect_uris must list at least one URI")
        }
        if let method = try Self.text("token_endpoint_auth_method", in: object) {
            guard let known = Authentication(rawValue: method) else {
                let all = Authentication.allCases.map(\.rawValue).joined(separator: ", ")
                throw OAuthError(.invalidClientMetadata, "token_endpoint_auth_method must be one of \(all)")
            }
            authentication = known
        }
        scopes = try Self.text("scope", in: object).map { Scopes.list($0) }
        backChannelLogoutURI = try Self.url("backchannel_logout_uri", in: object)
        keys = try Self.keys(in: object)
        guard authentication != .privateKeyJWT || keys != nil else {
            throw OAuthError(.invalidClientMetadata, "private_key_jwt needs jwks or jwks_uri")
        }
        clientURI = try Self.url("client_uri", in: object)
        policyURI = try Self.url("policy_uri", in: object)
        termsURI = try Self.url("tos_uri", in: object)
    }

    private static func keys(in object: JSONObject) throws(OAuthError) -> Keys? {
        let url = try url("jwks_uri", in: object)
        guard let set = object["jwks"] else { return url.map { .url($0) } }
        let keys = set.object?["keys"]?.array?.compactMap(\.object) ?? []
        let isPublic = keys.allSatisfy { $0["d"] == nil && $0["k"] == nil }
        guard url == nil, (1...10).contains(keys.count), isPublic, set.jsonText.utf8.count <= 16_384 else {
            throw OAuthError(.invalidClientMetadata, "jwks must be a set of one to ten public keys, without jwks_uri")
        }
        return .set(set)
    }

    private static func redirectURIs(_ name: String, in object: JSONObject) throws(OAuthError) -> [RedirectURI] {
        let texts = try texts(name, in: object) ?? []
        let uris = texts.compactMap { RedirectURI($0) }
        guard uris.count == texts.count, uris.count <= limit else {
            throw OAuthError(
                .invalidRedirectURI,
                "\(name) must list at most \(limit) absolute URIs without a fragment: https, http on this machine, or an app's own scheme"
            )
        }
        return uris
    }

    private static func text(_ name: String, in object: JSONObject) throws(OAuthError) -> String? {
        switch object[name] {
        case nil: return nil
        case .string(let text) where text.utf8.count <= 4_096 && !text.utf8.contains(0):
            return text.isEmpty ? nil : text
        default: throw OAuthError(.invalidClientMetadata, "\(name) must be a text")
        }
    }

    private static func texts(_ name: String, in object: JSONObject) throws(OAuthError) -> [String]? {
        guard let value = object[name] else { return nil }
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else {
            throw OAuthError(.invalidClientMetadata, "\(name) must be a list of texts")
        }
        return texts
    }

    private static func url(_ name: String, in object: JSONObject) throws(OAuthError) -> String? {
        guard let text = try text(name, in: object) else { return nil }
        guard text.utf8.count <= 2_048, URLParts(text)?.isSecure(orLoopback: true) == true else {
            throw OAuthError(.invalidClientMetadata, "\(name) must be an https URL")
        }
        return text
    }

    /// The members as RFC 7591 §3.2.1 shows them.
    package var members: [JSONObject.Member] {
        var members: [(String, JSONValue)] = []
        if let name { members.append(("client_name", .string(name))) }
        members.append(("redirect_uris", .array(redirectURIs.map { .string($0.text) })))
        members.append(("grant_types", .array(grantTypes.map(\.rawValue).sorted().map { .string($0) })))
        members.append(("response_types", grantTypes.contains(.authorizationCode) ? ["code"] : []))
        members.append(("token_endpoint_auth_method", .string(authentication.rawValue)))
        if !logoutURIs.isEmpty {
            members.append(("post_logout_redirect_uris", .array(logoutURIs.map { .string($0.text) })))
        }
        if let backChannelLogoutURI { members.append(("backchannel_logout_uri", .string(backChannelLogoutURI))) }
        switch keys {
        case .set(let set): members.append(("jwks", set))
        case .url(let url): members.append(("jwks_uri", .string(url)))
        case nil: break
        }
        if let scopes { members.append(("scope", .string(scopes.joined(separator: " ")))) }
        if let clientURI { members.append(("client_uri", .string(clientURI))) }
        if let policyURI { members.append(("policy_uri", .string(policyURI))) }
        if let termsURI { members.append(("tos_uri", .string(termsURI))) }
        return members.map { JSONObject.Member(name: $0.0, value: $0.1) }
    }
}
