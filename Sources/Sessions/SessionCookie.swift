package import Projects
import Secrets
import StrictJSON

/// A session cookie: an ID token's claims with a longer lifetime, for back ends that keep users signed in with a
/// cookie.
///
/// It is a snapshot: the account is not read again. Its keys, issuer and header differ from those of ID tokens, so
/// neither can be used as the other.
package enum SessionCookie {
    /// The allowed lifetimes in seconds.
    package static let durations: ClosedRange<Int64> = 300...1_209_600

    /// `iss` of the project's cookies: always Firebase's, even if ID tokens have another issuer.
    ///
    /// Admin SDKs accept no other, and verifiers are configured with the cookie keys, so no discovery is needed.
    package static func issuer(of project: ProjectID) -> String { "https://session.firebase.google.com/\(project)" }

    /// The payload of a cookie; nil for anything but a JWT.
    ///
    /// - Parameters:
    ///   - idToken: a verified ID token.
    ///   - now: seconds since 1970.
    ///   - duration: in seconds.
    package static func payload(
        of idToken: String,
        project: ProjectID,
        now: Int64,
        duration: Int64
    ) -> [UInt8]? {
        guard let claims = CompactJWS(idToken).flatMap({ JSONObject(ours: $0.payload) }) else { return nil }
        let own: [String: JSONValue] = [
            "iss": .string(issuer(of: project)), "iat": .number("\(now)"), "exp": .number("\(now + duration)"),
        ]
        let members = claims.members.map { JSONObject.Member(name: $0.name, value: own[$0.name] ?? $0.value) }
        return Array(JSONValue.object(JSONObject(members)).jsonText.utf8)
    }
}
