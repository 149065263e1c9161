/// A program on another platform that gets access tokens of the admin API with tokens of that platform: a CI job, a
/// pod, a virtual machine.
///
/// It has no secret here: ``issuer``, ``audience`` and ``claims`` say which tokens are its own.
package struct Workload: Sendable, Hashable {
    package var id: String
    package var name: String
    /// Nil for every project.
    package var project: ProjectID?
    /// `iss` of its tokens, byte for byte.
    package var issuer: String
    /// A JWK set (RFC 7517 §5) as JSON text; nil if the keys are found by discovery at the issuer.
    package var jwks: String?
    /// `aud` of its tokens contains this.
    package var audience: String
    /// Its tokens have all of these claims, with exactly these values.
    package var claims: [String: String]
    package var scopes: Set<AdminScope>
    /// How long its access tokens are valid, in seconds: at most ``maximumTokenLifetime``.
    package var tokenLifetime: Int64
    /// Seconds since 1970; nil if it does not expire.
    package var expiresAt: Int64?

    package static let maximumTokenLifetime: Int64 = 3600

    package init(
        id: String,
        name: String,
        project: ProjectID?,
        issuer: String,
        jwks: String? = nil,
        audience: String,
        claims: [String: String],
        scopes: Set<AdminScope>,
        tokenLifetime: Int64 = 900,
        expiresAt: Int64? = nil
    ) {
        self.id = id
        self.name = name
        self.project = project
        self.issuer = issuer
        self.jwks = jwks
        self.audience = audience
        self.claims = claims
        self.scopes = scopes
        self.tokenLifetime = tokenLifetime
        self.expiresAt = expiresAt
    }

    /// Whether it is valid at `now` (seconds since 1970).
    package func isCurrent(now: Int64) -> Bool { expiresAt.map { now < $0 } ?? true }

    /// Claims of which each names one repository, project, owner or account of a platform.
    ///
    /// All others (a branch, an environment, an event) are the same for everybody there, and anybody could have them.
    package static let identifyingClaims = [
        "sub", "repository", "repository_id", "repository_owner", "repository_owner_id", "project_path", "project_id",
        "namespace_path", "namespace_id",
    ]
}
