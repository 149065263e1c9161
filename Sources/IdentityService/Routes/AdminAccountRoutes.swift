import Accounts
import Domain
import Foundation
import HTTPTypes
import Projects
import Secrets
import Storage

/// The admin operations on accounts (`/v1/projects/{project}/accounts…`).
struct AdminAccountRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        let base = "/v1/projects/{project}/accounts"
        return [
            Route(.post, base, refusing: .signUp, .admin(.manageAccounts, create)),
            Route(.post, base + ":lookup", refusing: .lookup, .admin(.readAccounts, lookUp)),
            Route(.post, base + ":update", refusing: .update, .admin(.manageAccounts, update)),
            Route(.post, base + ":delete", refusing: .delete, .admin(.manageAccounts, delete)),
            Route(
                .get,
                base + ":batchGet",
                query: ["maxResults", "nextPageToken", "tenantId", "delegatedProjectNumber"],
                .admin(.readAccounts, list)
            ),
            Route(.post, base + ":batchDelete", .admin(.manageAccounts, deleteAll)),
            Route(.post, base + ":signOut", refusing: .sessions, .admin(.manageAccounts, signOut)),
            Route(.post, base + ":listSessions", refusing: .sessions, .admin(.readAccounts, listSessions)),
            Route(.post, base + ":providerToken", refusing: .sessions, .admin(.manageAccounts, providerToken)),
            Route(.post, base + ":listDetachedCredentials", .admin(.readAccounts, listDetachedCredentials)),
            Route(.post, base + ":explainSignIn", .admin(.readAccounts, explainSignIn)),
        ]
    }

    func create(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        var new = AdminAccounts.NewAccount()
        new.localID = try body.text("localId")
        new.email = try body.string("email")
        new.emailVerified = try body.bool("emailVerified") ?? false
        new.password = try body.string("password").map { Secret($0) }
        new.displayName = try body.string("displayName")
        new.photoURL = try body.string("photoUrl")
        new.phoneNumber = try body.string("phoneNumber")
        new.disabled = try body.bool("disabled") ?? false
        new.secondFactors = try Self.secondFactors(body.objects("mfaInfo"))
        let account = try await accounts.admin.create(new, call.project)
        return .json { json in
            json.kind("SignupNewUserResponse")
            json.member("localId", account.id.rawValue)
            json.member("email", account.email?.canonical ?? "")
            json.member("displayName", account.displayName)
        }
    }

    func lookUp(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        var selectors = AdminAccounts.Selectors()
        selectors.localIDs = try body.strings("localId").filter { !$0.isEmpty }
        selectors.emails = try body.strings("email").filter { !$0.isEmpty }
        selectors.initialEmails = try body.strings("initialEmail").filter { !$0.isEmpty }
        selectors.phoneNumbers = try body.strings("phoneNumber").filter { !$0.isEmpty }
        selectors.federated = try body.objects("federatedUserId").compactMap { identity in
            guard let provider = try identity.string("providerId"), let subject = try identity.string("rawId"),
                !provider.isEmpty, !subject.isEmpty
            else { return nil }
            return (ProviderID(provider), subject)
        }
        let found = try await accounts.admin.lookUp(selectors, call.project)
        return .json { json in
            json.kind("GetAccountInfoResponse")
            guard !found.isEmpty else { return }
            json.array("users") { json in
                for account in found { json.object { $0.account(account, for: .admin, in: call.tenant) } }
            }
        }
    }

    func update(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        var changes = AdminAccounts.Changes()
        changes.localID = try body.text("localId")
        changes.email = try body.string("email")
        changes.emailVerified = try body.bool("emailVerified")
        changes.password = try body.string("password").map { Secret($0) }
        changes.displayName = try body.string("displayName")
        changes.photoURL = try body.string("photoUrl")
        changes.phoneNumber = try body.string("phoneNumber")
        changes.disabled = try body.bool("disableUser")
        changes.customAttributes = try body.string("customAttributes")
        changes.validSince = try body.seconds("validSince")
        changes.createdAt = try body.accountTime("createdAt")
        changes.lastSignInAt = try body.accountTime("lastLoginAt")
        changes.deleteProviders = try body.strings("deleteProvider")
        changes.deletePasskeys = try PasskeyRoutes.deletions(body)
        changes.unblockProviders = try body.strings("unblockProvider")
        changes.deleteAttributes = try UpdateAccountRoute.attributes(body)
        changes.secondFactors = try body.object("mfa").map { try Self.secondFactors($0.objects("enrollments")) }
        changes.link = try body.object("linkProviderUserInfo").map { try Self.credential($0) }
        let account = try await accounts.admin.update(changes, call.project)
        return .json { $0.updated(account) }
    }

    func delete(_ call: AdminCall) async throws -> Response {
        try await accounts.admin.delete(localID: try call.json().text("localId"), call.project)
        return .json { $0.kind("DeleteAccountResponse") }
    }

    private func deleteAll(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let localIDs = try body.strings("localIds")
        let left = try await accounts.deleteAccounts(
            localIDs,
            force: body.bool("force") ?? false,
            call.project
        )
        return .json { json in
            guard !left.isEmpty else { return }
            json.array("errors") { json in
                for index in left {
                    json.object { json in
                        json.member("index", number: Int64(index))
                        json.member("localId", localIDs[index])
                        json.member("message", "NOT_DISABLED : Disable the account before batch deletion.")
                    }
                }
            }
        }
    }

    private func list(_ call: AdminCall) async throws -> Response {
        let size = try call.pageSize("maxResults", default: 20, maximum: 1000)
        return try await page(size: size, after: try call.call.query.value("nextPageToken"), call)
    }

    /// A page of accounts; credentials that can only read accounts get redacted password hashes, so that they cannot
    /// guess passwords.
    func page(size: Int, after token: String?, _ call: AdminCall) async throws -> Response {
        let after = try PageToken.id(token).map { AccountID($0) }
        let exports = call.admin.scopes.contains(.manageAccounts)
        let page = try await accounts.admin.list(
            maxResults: size,
            after: after,
            exports: exports,
            call.project
        )
        return try .json { json in
            json.kind("DownloadAccountResponse")
            guard !page.isEmpty else { return }
            json.array("users") { json in
                for listed in page {
                    let view = exports ? AccountView.export(listed.password?.hash) : .admin
                    json.object { $0.account(listed.account, for: view, in: call.tenant) }
                }
            }
            if page.count == size, let last = page.last {
                json.member("nextPageToken", try PageToken.text(of: last.account.id.rawValue))
            }
        }
    }

    /// Ends one session of an account (`sessionId`), or all.
    private func signOut(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let sessionID = try body.text("sessionId")
        let scope = try body.choice("scope", of: ["current", "others", "all", "session"])
        guard scope == nil || scope == (sessionID == nil ? "all" : "session") else {
            throw WireError("INVALID_ARGUMENT", "An admin can sign out all sessions, or the one that sessionId names.")
        }
        try await accounts.admin.signOut(
            localID: try body.text("localId"),
            sessionID: sessionID,
            call.project
        )
        return .json { _ in }
    }

    private func listSessions(_ call: AdminCall) async throws -> Response {
        let localID = try call.json().text("localId")
        let sessions = try await accounts.admin.listSessions(localID: localID, call.project)
        return .json { $0.sessions(sessions) }
    }

    private func listDetachedCredentials(_ call: AdminCall) async throws -> Response {
        let localID = try call.json().text("localId")
        let detached = try await accounts.admin.listDetachedCredentials(localID: localID, call.project)
        return .json { $0.detachedCredentials(detached) }
    }

    private func explainSignIn(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        var request = ExplainSignIn.Request()
        request.provider = try body.string("providerId")
        request.subject = try body.string("rawId")
        request.email = try body.string("email")
        request.emailVerified = try body.bool("emailVerified")
        request.emailAuthority = try body.bool("emailAuthority") ?? false
        request.autoCreate = try body.bool("autoCreate") ?? true
        let explanation = try await accounts.explainSignIn(request, call.project)
        return .json { $0.explanation(explanation) }
    }

    private func providerToken(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let token = try await accounts.providerToken(
            localID: try body.text("localId"),
            provider: try body.string("providerId"),
            call.project
        )
        return .json { $0.providerToken(token) }
    }

    static func secondFactors(_ entries: [WireObject]) throws -> [AdminSecondFactor] {
        try entries.map { entry in
            var factor = AdminSecondFactor()
            factor.id = try entry.text("mfaEnrollmentId")
            factor.displayName = try entry.string("displayName")
            factor.phoneNumber = try entry.string("phoneInfo")
            factor.enrolledAt = try entry.timestamp("enrolledAt")
            return factor
        }
    }

    private static func credential(_ link: WireObject) throws -> LinkedCredential {
        LinkedCredential(
            provider: ProviderID(try link.string("providerId") ?? ""),
            subject: try link.string("rawId") ?? "",
            email: try link.string("email"),
            profile: try link.profile(Profile.ofIdentities)
        )
    }
}

extension JSONWriter {
    /// The response of `accounts:update`, except the tokens.
    mutating func updated(_ account: Account) {
        kind("SetAccountInfoResponse")
        member("localId", account.id.rawValue)
        member("email", account.email?.canonical)
        member("displayName", account.displayName)
        member("photoUrl", account.photoURL)
        if account.email != nil { member("emailVerified", account.emailVerified) }
        providers(of: account)
        redactedPassword(of: account)
    }
}

extension AdminCall {
    /// A page size in the query.
    func pageSize(_ name: String, default size: Int, maximum: Int) throws -> Int {
        guard let text = try call.query.value(name), !text.isEmpty else { return size }
        guard let number = Int(text), number >= 0 else { throw WireError("INVALID_PAGE_SELECTION") }
        return min(number, maximum)
    }
}
