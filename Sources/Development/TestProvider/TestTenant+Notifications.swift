package import struct Foundation.Date
import StrictJSON

/// What this provider would send to the service by itself.
extension TestTenant {
    /// The body of Apple's server-to-server notification.
    ///
    /// - Parameters:
    ///   - type: `consent-revoked`, `account-delete`, `email-disabled`, …
    ///   - id: `jti`.
    ///   - asObject: puts the event into `events` as an object instead of as text.
    ///   - changes: of the JWT.
    package func appleNotification(
        _ type: String,
        about user: TestUser,
        id: String,
        at date: Date? = nil,
        client: String = "client",
        asObject: Bool = false,
        changes: IDTokenChanges = .none
    ) throws -> String {
        let now = Int64((withState { $0.now() }).timeIntervalSince1970)
        let time = date.map { Int64($0.timeIntervalSince1970) } ?? now
        let event: JSONValue = [
            "type": .string(type), "sub": .string(user.subject), "event_time": .integer(time * 1000),
        ]
        var changes = changes
        var claims: JSONObject = [
            "jti": .string(id), "aud": .string(client), "iat": .integer(max(now, time)),
            "exp": .integer(max(now, time) + 86_400),
            "events": asObject ? event : .string(event.jsonText),
        ]
        claims = claims.changed(set: changes.set).changed(remove: changes.remove)
        changes.set = claims
        changes.remove.formUnion(["sub", "azp", "auth_time"])
        let jwt = try mintIDToken(for: TestUser(user.subject), client: client, scopes: [], changes: changes)
        return JSONValue.object(["payload": .string(jwt)]).jsonText
    }
}
