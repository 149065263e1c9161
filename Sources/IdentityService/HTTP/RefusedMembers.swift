import Accounts
import StrictJSON

/// Members of requests that an operation would not act on although their sender expects it, and the errors they get.
///
/// Members that have no effect, and from which nobody expects one, are listed in docs/guide/firebase-sdks.md. Those of
/// `accounts:update` that only admins may send are ``UpdateAccountRoute``'s: it answers them after a missing token.
package struct RefusedMembers: Sendable {
    package struct Member: Sendable {
        /// In camelCase, with a period before a member of a member.
        package var path: String
        package var error: WireError
    }

    /// Of requests with an API key.
    package var ofClients: [Member] = []
    /// Of requests with an admin's credential.
    package var ofAdmins: [Member] = []

    package static let none = RefusedMembers()

    /// Only admins choose a user ID, a number without a code, or who is disabled.
    static let signUp = RefusedMembers(
        ofClients: [Member(path: "localId", error: "UNEXPECTED_PARAMETER : User ID")]
            + forAdmins(["disabled", "emailVerified", "phoneNumber"]),
        ofAdmins: unexpected(["idToken"])
    )

    /// An admin names the account; a second credential beside that would not be verified.
    static let update = RefusedMembers(
        ofAdmins: unexpected(["idToken", "oobCode"]) + unsupported(["provider", "upgradeToFederatedLogin"])
    )

    static let lookup = RefusedMembers(
        ofClients: forAdmins(["localId", "email", "phoneNumber", "federatedUserId", "initialEmail"]),
        ofAdmins: unexpected(["idToken"])
    )

    static let delete = RefusedMembers(ofAdmins: unexpected(["idToken"]))

    /// What an app asks about its own session, and an admin about an account.
    static let sessions = RefusedMembers(ofClients: forAdmins(["localId"]), ofAdmins: unexpected(["idToken"]))

    static let signInWithIdP = RefusedMembers(ofClients: unexpected(["pendingIdToken"]))
    static let signInWithPassword = RefusedMembers(ofClients: unexpected(["idToken", "pendingIdToken"]))

    /// Google's own proofs of a number.
    static let signInWithPhoneNumber = RefusedMembers(ofClients: unexpected(["verificationProof"]))
    static let secondFactorCode = RefusedMembers(
        ofClients: unexpected(["phoneVerificationInfo.androidVerificationProof"])
    )

    // MARK: Errors

    private static func forAdmins(_ paths: [String]) -> [Member] {
        paths.map { Member(path: $0, error: "INSUFFICIENT_PERMISSION") }
    }

    private static func unexpected(_ paths: [String]) -> [Member] {
        paths.map { Member(path: $0, error: "UNEXPECTED_PARAMETER : \($0)") }
    }

    private static func unsupported(_ paths: [String]) -> [Member] {
        paths.map { Member(path: $0, error: "INVALID_REQ_TYPE : Unsupported request parameters.") }
    }
}

extension WireObject {
    /// - Throws: the error of the first of the members that the request has; what is proto3's default counts as absent.
    func refuse(_ members: [RefusedMembers.Member]) throws {
        for member in members where try says(member.path[...]) { throw member.error }
    }

    private func says(_ path: Substring) throws(WireError) -> Bool {
        guard let dot = path.firstIndex(of: ".") else {
            let defaults: [JSONValue] = [.string(""), .bool(false), .number("0"), .array([])]
            return try value(String(path)).map { !defaults.contains($0) } ?? false
        }
        // Its type is the operation's to judge.
        guard try value(String(path[..<dot]))?.object != nil, let inner = try object(String(path[..<dot])) else {
            return false
        }
        return try inner.says(path[path.index(after: dot)...])
    }
}
