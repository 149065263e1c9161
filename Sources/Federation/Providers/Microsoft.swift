import Domain
import StrictJSON
import Text

extension ProviderDefinition {
    /// Microsoft work, school and personal accounts.
    ///
    /// `variables.tenant` selects them: `common`, `organizations`, `consumers`, or a directory's GUID. It is part of
    /// the endpoints. The user's directory, the token's `tid`, is part of the issuer, which is stored with the subject.
    /// The subject is `oid`: the same in every app of a directory, and the user's ID in Microsoft Graph.
    static let microsoft = ProviderDefinition("microsoft.com", "Microsoft", .oidc) { definition in
        definition.variables = [
            "base": "https://login.microsoftonline.com", "graph": "https://graph.microsoft.com", "tenant": "common",
        ]
        definition.variableParameters = ["tenant": []]
        definition.issuers = ["{base}/{tid}/v2.0"]
        definition.endpoints = Endpoints(
            authorization: "{base}/{tenant}/oauth2/v2.0/authorize",
            token: "{base}/{tenant}/oauth2/v2.0/token",
            keys: "{base}/{tenant}/discovery/v2.0/keys"
        )
        definition.scopes = Scopes(["openid", "profile", "email", "User.Read"])
        definition.responseTypes = [.code, ResponseType([.idToken])]
        definition.pkce = .required
        definition.clientAuthentication = .post
        definition.idToken = IDTokenRules(algorithms: [.rs256])
        definition.idToken.lenientBooleans = true
        definition.refresh.resendScope = true
        definition.refresh.scopes = ["offline_access"]
        definition.profile = [ProfileCall(url: "{graph}/v1.0/me", optional: true)]
        definition.claims.subject = ["oid"]
        definition.claims.email = ["email", "mail", "userPrincipalName"]
        definition.claims.emailVerified = ["xms_edov"]
        definition.claims.emailAuthority = ["xms_edov"]
        definition.claims.displayName = ["name", "displayName"]
        definition.claims.firstName = ["given_name", "givenName"]
        definition.claims.lastName = ["family_name", "surname"]
        definition.claims.screenName = ["preferred_username", "userPrincipalName"]
        definition.claims.language = ["preferredLanguage"]
        definition.rawUserInfo = .merged
        definition.quirks = [.microsoftTenant]
    }

    /// The allowed values of `iss` for a token with these claims, whose `tid` is the directory; nil if users of that
    /// directory may not sign in.
    func issuers(for claims: JSONObject) -> [String]? {
        guard quirks.contains(.microsoftTenant), issuers.contains(where: { $0.contains("{tid}") }) else {
            return issuers
        }
        guard let directory = claims["tid"]?.string,
            MicrosoftTenant(directory).map({ $0.isDirectory && $0.isWithin(variables["tenant"]) }) ?? false
        else { return nil }
        return issuers.map { $0.replacing("{tid}", with: directory) }
    }

    /// The issuer to store with a verified token's subject: the directory's own, if several are allowed.
    func canonicalIssuer(for claims: JSONObject) -> String {
        if quirks.contains(.microsoftTenant), let issuer = claims["iss"]?.string { return issuer }
        return issuers.first ?? ""
    }
}

/// One of Microsoft's directories, or a name for several.
struct MicrosoftTenant {
    private static let home = "9188040d-6c67-4c5b-b112-36a304b66dad"

    private let name: String

    /// A lowercase GUID, `common`, `organizations` or `consumers`; nil for anything else.
    init?(_ text: String) {
        guard ["common", "organizations", "consumers"].contains(text) || Self.isGUID(text) else { return nil }
        name = text
    }

    var isDirectory: Bool { Self.isGUID(name) }

    /// A directory named by its domain, which does not reveal its `tid`.
    static func isDomain(_ text: String) -> Bool {
        text.contains(".") && text.utf8.count <= 253 && text.consists(of: .lowercase + .digits + "-.")
    }

    /// The directory of personal accounts.
    var isHome: Bool { name == Self.home }

    func isWithin(_ tenant: String?) -> Bool {
        switch tenant {
        case "common": true
        case "organizations": !isHome
        case "consumers": isHome
        default: name == tenant
        }
    }

    private static func isGUID(_ text: String) -> Bool {
        text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
            && text.consists(of: .digits + "abcdef-")
    }
}

/// Rules for the claims of a Microsoft user.
enum MicrosoftAccount {
    /// Whether the profile of Microsoft Graph is about the token's user: `id` is `oid`, or, for a personal account, its
    /// last 16 digits.
    static func isSame(_ profile: JSONObject, as claims: JSONObject) -> Bool {
        guard let id = profile["id"]?.string?.lowercased() else { return profile.members.isEmpty }
        let oid = claims["oid"]?.string?.lowercased() ?? ""
        return id == oid || (id.utf8.count == 16 && oid.replacing("-", with: "").hasSuffix(id))
    }

    /// Microsoft verified the emails of personal accounts itself; elsewhere the directory's admin sets them freely, and
    /// only `xms_edov` states more.
    static func isPersonal(_ claims: JSONObject) -> Bool {
        claims["tid"]?.string.flatMap(MicrosoftTenant.init)?.isHome ?? false
    }

    /// A directory's name for a guest is not an email: `ada_example.com#EXT#@acme.onmicrosoft.com`.
    static func isAddress(_ text: String) -> Bool { !text.uppercased().contains("#EXT#") }
}
