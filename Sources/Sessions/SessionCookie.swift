package import Projects
import Secrets
import StrictJSON

/// A session cookie: what an ID token says, for longer, and for a back end that keeps people signed in by cookie.
///
/// It is a snapshot: nothing of the account is read anew. Its keys, its issuer and its header are others than those of ID
/// tokens, so that neither is taken for the other.
package enum SessionCookie {
    /// Seconds for which one may be good.
    package static let durations: ClosedRange<Int64> = 300...1_209_600

    /// `iss` of the project's cookies: Firebase's, whatever its ID tokens have.
    ///
    /// Admin SDKs know no other, and whoever verifies cookies is told their keys: nothing leads there from an issuer.
    package static func issuer(of project: ProjectID) -> String { "https://session.firebase.google.com/\(project)" }

    /// The payload of a cookie; nil for anything but a JWT.
    ///
    /// - Parameters:
    ///   - idToken: one that was verified.
    ///   - now: seconds since 1970.
    ///   - duration: in seconds.
    package static func payload(
        of idToken: String,
        project: ProjectID,
        now: Int64,
        duration: Int64
    ) -> [UInt8]? {
        let parts = idToken.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Base64URL.decode(Array(parts[1])[...]).flatMap(JSONObject.init(ours:))
        else { return nil }
        let own: [String: JSONValue] = [
            "iss": .string(issuer(of: project)), "iat": .number("\(now)"), "exp": .number("\(now + duration)"),
        ]
        let members = claims.members.map { JSONObject.Member(name: $0.name, value: own[$0.name] ?? $0.value) }
        return Array(JSONValue.object(JSONObject(members)).jsonText.utf8)
    }
}
