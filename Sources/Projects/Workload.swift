/// A program on another platform that gets access tokens of the admin API with tokens of that platform: a CI job, a
/// pod, a virtual machine.
///
/// It has no secret here: ``issuer``, ``audience`` and ``claims`` say which tokens are its own.
@dynamicMemberLookup
package struct Workload: Sendable, Hashable {
    package var credential: AdminCredential
    /// `iss` of its tokens, byte for byte.
    package var issuer: String
    /// A JWK set (RFC 7517 §5) as JSON text; nil if the keys are found by discovery at the issuer.
    package var jwks: String?
    /// `aud` of its tokens contains this.
    package var audience: String
    /// Its tokens have all of these claims, with exactly these values.
    package var claims: [String: String]
    /// How long its access tokens are valid, in seconds: at most ``maximumTokenLifetime``.
    package var tokenLifetime: Int64

    package static let maximumTokenLifetime: Int64 = 3600

    package init(
        credential: AdminCredential,
        issuer: String,
        jwks: String? = nil,
        audience: String,
        claims: [String: String],
        tokenLifetime: Int64 = 900
    ) {
        self.credential = credential
        self.issuer = issuer
        self.jwks = jwks
        self.audience = audience
        self.claims = claims
        self.tokenLifetime = tokenLifetime
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<AdminCredential, Value>) -> Value {
        get { credential[keyPath: path] }
        set { credential[keyPath: path] = newValue }
    }

    /// Claims of which each names one repository, project, owner or account of a platform.
    ///
    /// All others (a branch, an environment, an event) are the same for everybody there, and anybody could have them.
    package static let identifyingClaims = [
        "sub", "repository", "repository_id", "repository_owner", "repository_owner_id", "project_path", "project_id",
        "namespace_path", "namespace_id",
    ]
}
