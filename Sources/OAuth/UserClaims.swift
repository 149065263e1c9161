package import Domain
package import StrictJSON
import Text

/// What the granted scopes let an application know of an account (OpenID Connect Core 1.0 §5.1 and §5.4).
package enum UserClaims {
    /// Without `sub`.
    package static func members(of account: Account, for scopes: [String]) -> [JSONObject.Member] {
        var members: [(String, JSONValue)] = []
        func add(_ name: String, _ text: String?) {
            if let text, !text.isEmpty { members.append((name, .string(text))) }
        }
        if scopes.contains("profile") {
            for field in Profile.ofAccounts {
                let text = account.profile[field]
                // What is no URL to others, is none of their business.
                if !field.isURL || text.flatMap({ URLParts($0) })?.isWeb == true { add(field.claim, text) }
            }
        }
        if scopes.contains("email"), let email = account.email {
            add("email", email.canonical)
            members.append(("email_verified", .bool(account.emailVerified)))
        }
        if scopes.contains("phone"), let number = account.phoneNumber {
            add("phone_number", number)
            members.append(("phone_number_verified", true))
        }
        return members.map { JSONObject.Member(name: $0.0, value: $0.1) }
    }
}
