import Accounts
import Secrets

/// `accounts:update` of the signed-in account, or with the code of an email, beside which nothing else is changed.
///
/// The six digits of an email need the ID token too.
struct UpdateAccountRoute {
    let accounts: AccountsService

    /// `deleteAttribute` values by number; the last one and `PROVIDER` cannot be deleted here.
    static let attributes = [
        "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL", "PASSWORD",
        "RAW_USER_INFO",
    ]

    private static let changes = [
        "displayName", "photoUrl", "email", "password", "deleteProvider", "deletePasskey", "deleteAttribute",
        "validSince",
    ]

    private static let adminMembers = [
        "createdAt", "customAttributes", "emailVerified", "lastLoginAt", "localId", "mfa", "phoneNumber",
        "unblockProvider",
    ]

    func callAsFunction(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let (idToken, code) = (try body.text("idToken"), try body.text("oobCode"))
        guard idToken != nil || code != nil else { throw AccountsError.unsupportedParameters }
        try refuseAdminMembers(body)
        if let code {
            if let other = try Self.changes.first(where: { try body.has($0) }) {
                throw AccountsError.unexpectedParameter("\(other) is not allowed with an out of band code.")
            }
            guard let idToken, let digits = ShortCodeText.digits(code) else {
                return Self.applied(try await accounts.applyOOBCode(code, beside: idToken, call.caller))
            }
            return Self.applied(try await accounts.applyOOBCode(digits: digits, idToken: idToken, call.caller))
        }
        guard let idToken else { throw AccountsError.unsupportedParameters }
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
        if try body.has("disableUser") { throw AccountsError.operationNotAllowed }
        if try Self.adminMembers.contains(where: { try body.has($0) }) { throw AccountsError.insufficientPermission }
        // Nothing here acts on them.
        if try ["provider", "upgradeToFederatedLogin"].contains(where: { try body.has($0) }) {
            throw AccountsError.unsupportedParameters
        }
    }
}
