package import StrictJSON

/// A person who has an account at a tenant of the test provider.
package struct TestUser: Sendable, Hashable {
    /// `sub`, or GitHub's `id` (then decimal digits, up to 64 bits).
    package var subject: String
    package var email: String?
    package var emailVerified: Bool
    package var name: String?
    package var givenName: String?
    package var familyName: String?
    package var picture: String?
    /// GitHub's user name.
    package var login: String?
    package var locale: String?
    /// Google's `hd`.
    package var hostedDomain: String?
    /// Further claims of the ID token and members of the profile.
    package var claims: JSONObject = [:]
    /// What `/user/emails` lists; nil for the one address above, as primary.
    package var emails: [Address]?

    /// An address of GitHub's list.
    package struct Address: Sendable, Hashable {
        package var email: String
        package var primary: Bool
        package var verified: Bool
        package var visibility: String?

        package init(_ email: String, primary: Bool, verified: Bool, visibility: String? = nil) {
            self.email = email
            self.primary = primary
            self.verified = verified
            self.visibility = visibility
        }
    }

    package init(
        _ subject: String,
        email: String? = nil,
        emailVerified: Bool = true,
        name: String? = nil,
        givenName: String? = nil,
        familyName: String? = nil,
        picture: String? = nil,
        login: String? = nil,
        locale: String? = nil,
        hostedDomain: String? = nil,
        claims: JSONObject = [:],
        emails: [Address]? = nil
    ) {
        self.subject = subject
        self.email = email
        self.emailVerified = emailVerified
        self.name = name
        self.givenName = givenName
        self.familyName = familyName
        self.picture = picture
        self.login = login
        self.locale = locale
        self.hostedDomain = hostedDomain
        self.claims = claims
        self.emails = emails
    }
}
