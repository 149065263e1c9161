import Accounts
import Secrets

/// `accounts:update` of the signed-in account, or with the code of an email; if both are sent, the ID token is used.
///
/// The six digits of an email need both.
struct UpdateAccountRoute {
    let accounts: AccountsService

    /// `deleteAttribute` values by number; the last one and `PROVIDER` cannot be deleted here.
    static let attributes = [
        "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL", "PASSWORD",
        "RAW_USER_INFO",
    ]

    func callAsFunction(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        guard let idToken = try body.string("idToken") else {
            guard let code = try body.string("oobCode") else { throw AccountsError.unsupportedParameters }
            return Self.applied(try await accounts.applyOOBCode(code, call.caller))
        }
        if let digits = try body.string("oobCode").flatMap(ShortCodeText.digits) {
            return Self.applied(try await accounts.applyOOBCode(digits: digits, idToken: idToken, call.caller))
        }
        try refuseAdminMembers(body)
        var request = UpdateAccount.Request()
        request.idToken = idToken
        request.displayName = try body.string("displayName")
        request.photoURL = try body.string("photoUrl")
        request.email = try body.string("email")
        request.password = try body.string("password").map { Secret($0) }
        request.deleteProviders = try body.strings("deleteProvider")
        request.deletePasskeys = try PasskeyRoutes.deletions(body)
        request.deleteAttributes = try Self.attributes(body)
        request.revokesSessions = try body.int64("validSince") != nil
        let result = try await accounts.updateAccount(request, call.caller)
        return .json { json in
            json.updated(result.account)
            json.member("newEmail", result.newEmail)
            if let tokens = result.tokens { json.tokens(tokens) }
        }
    }

    private static func applied(_ result: ApplyOOBCode.Result) -> Response {
        .json { json in
            json.updated(result.account)
            json.member("newEmail", result.newEmail)
        }
    }

    static func attributes(_ body: WireObject) throws -> [UpdateAccount.Attribute] {
        try body.choices("deleteAttribute", of: attributes).map { name in
            guard let attribute = UpdateAccount.Attribute(rawValue: name) else {
                throw AccountsError.unsupportedParameters
            }
            return attribute
        }
    }

    /// Refuses members that only admins may change, with Firebase's errors.
    private func refuseAdminMembers(_ body: WireObject) throws {
        if try body.has("linkProviderUserInfo") {
            throw AccountsError.unexpectedParameter("link_provider_user_info is not allowed with ID token.")
        }
        if try body.has("customAttributes") { throw AccountsError.insufficientPermission }
        if try body.has("mfa") { throw AccountsError.insufficientPermission }
        if try body.has("disableUser") { throw AccountsError.operationNotAllowed }
    }
}
