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

    /// The longest cookie that browsers keep, its name and value in bytes together (RFC 6265bis §5.6).
    package static let longest = 4_096

    /// The same for the value, if the back end's name for it has at most 64 bytes.
    private static let longestValue = longest - 64

    /// `iss` of the project's cookies: always Firebase's, even if ID tokens have another issuer.
    ///
    /// Admin SDKs accept no other, and verifiers are configured with the cookie keys, so no discovery is needed.
    package static func issuer(of project: ProjectID) -> String { "https://session.firebase.google.com/\(project)" }

    /// The payload of a cookie; nil for anything but a JWT.
    ///
    /// As in an ID token for a cookie, `picture` and then `sign_in_attributes` are left out where it would be too long.
    ///
    /// - Parameters:
    ///   - idToken: a verified ID token.
    ///   - now: seconds since 1970.
    ///   - duration: in seconds.
    package static func payload(
        of idToken: String,
        project: ProjectID,
        now: Int64,
        duration: Int64,
        by key: some TokenSigner
    ) throws(IDTokenMintingError) -> [UInt8]? {
        guard let claims = CompactJWS(idToken).flatMap({ JSONObject(ours: $0.payload) }) else { return nil }
        let own: [String: JSONValue] = [
            "iss": .string(issuer(of: project)), "iat": .number("\(now)"), "exp": .number("\(now + duration)"),
        ]
        var members = claims.members.map { JSONObject.Member(name: $0.name, value: own[$0.name] ?? $0.value) }
        if let payload = payload(of: members, by: key) { return payload }
        members.removeAll { $0.name == "picture" }
        if let payload = payload(of: members, by: key) { return payload }
        members = members.map { member in
            guard member.name == "firebase", case .object(let object) = member.value else { return member }
            let kept = object.members.filter { $0.name != "sign_in_attributes" }
            return JSONObject.Member(name: member.name, value: .object(JSONObject(kept)))
        }
        guard let payload = payload(of: members, by: key) else { throw .tooLong }
        return payload
    }

    /// Nil if the cookie would be too long.
    private static func payload(of members: [JSONObject.Member], by key: some TokenSigner) -> [UInt8]? {
        let payload = Array(JSONValue.object(JSONObject(members)).jsonText.utf8)
        return key.length(ofPayload: payload.count) <= longestValue ? payload : nil
    }
}
