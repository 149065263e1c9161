import Accounts
import Domain
import Storage

extension AccountQuery {
    /// The conditions and order of a request; ``AccountSelection`` has its page.
    init(_ body: WireObject) throws {
        self.init()
        // As in Firebase, only the first is used.
        subject = try body.objects("expression").first.map { try Self.subject($0) }
        method = try body.text("providerId").map { ProviderID($0) }
        emailDomain = try body.text("emailDomain").map { text in
            guard let domain = EmailAddress("x@\(text)")?.domain else {
                throw WireError("INVALID_ARGUMENT", "emailDomain is not a domain.")
            }
            return domain
        }
        lastUsedBefore = try body.time("lastUsedBefore")
        lastUsedAfter = try body.time("lastUsedAfter")
        isDisabled = try body.bool("disabled")
        hasDetachedCredential = try body.bool("hasDetachedCredential")
        hasRelayAddress = try body.bool("hasRelayAddress")
        hasRevokedConsent = try body.bool("hasRevokedConsent")
        isBlockedAtProvider = try body.bool("isBlockedAtProvider")
        hasSession = try body.bool("hasSession")
        let sorts = [
            "SORT_BY_FIELD_UNSPECIFIED", "USER_ID", "NAME", "CREATED_AT", "LAST_LOGIN_AT", "USER_EMAIL",
        ]
        sort =
            switch try body.choice("sortBy", of: sorts) {
            case "NAME": .name
            case "CREATED_AT": .createdAt
            case "LAST_LOGIN_AT": .lastSignInAt
            case "USER_EMAIL": .email
            default: .account
            }
        descends = try body.choice("order", of: ["ORDER_UNSPECIFIED", "ASC", "DESC"]) == "DESC"
    }

    /// As in Firebase, of several members the first in this order is used.
    private static func subject(_ expression: WireObject) throws -> Subject {
        if let email = try expression.text("email") {
            guard let address = EmailAddress(email) else { throw AccountsError.invalidEmail }
            return .email(address)
        }
        if let text = try expression.text("phoneNumber") {
            guard let number = PhoneNumber(text) else { throw AccountsError.invalidPhoneNumber }
            return .phoneNumber(number.text)
        }
        guard let id = try expression.text("userId") else {
            throw WireError("INVALID_ARGUMENT", "An expression must have an email, a phoneNumber or a userId.")
        }
        return .account(id)
    }
}

/// The part of a query's accounts that a response contains.
enum AccountSelection {
    /// A number of accounts after an offset, as in Firebase.
    case range(offset: Int64, limit: Int)
    /// The accounts after a page.
    case page(token: String?, size: Int)

    init(_ body: WireObject, _ query: AccountQuery) throws {
        func number(_ name: String, _ standard: Int64, atLeast least: Int64) throws -> Int64 {
            let number = try body.int64(name) ?? standard
            guard number >= least else { throw AccountsError.invalidPage }
            return number
        }
        let limit = Int64(QueryAccounts.limit)
        guard try body.has("pageSize") || body.has("pageToken") else {
            let wanted = try number("limit", limit, atLeast: 0)
            self = .range(offset: try number("offset", 0, atLeast: 0), limit: Int(min(wanted, limit)))
            return
        }
        guard try !body.has("limit"), try !body.has("offset") else {
            throw WireError("INVALID_ARGUMENT", "pageSize and pageToken exclude limit and offset.")
        }
        guard query.sort != .name, query.sort != .lastSignInAt else {
            throw WireError("INVALID_ARGUMENT", "Pages are sorted by USER_ID, CREATED_AT or USER_EMAIL.")
        }
        let size = try number("pageSize", limit, atLeast: 1)
        self = .page(token: try body.text("pageToken"), size: Int(min(size, limit)))
    }
}
