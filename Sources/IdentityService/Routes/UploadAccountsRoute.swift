import Accounts
import Domain
import Foundation
import HTTPTypes
import Passwords
import Projects
import Secrets
import StrictJSON

/// `accounts:batchCreate`: imports up to 1000 accounts.
struct UploadAccountsRoute {
    let accounts: AccountsService

    var routes: [Route] {
        let path = "/v1/projects/{project}/accounts:batchCreate"
        return [
            Route(
                .post,
                path,
                legacy: "uploadAccount",
                bodyLimit: Self.maximumBody,
                .admin(.manageAccounts, upload)
            )
        ]
    }

    /// 16 MiB.
    private static let maximumBody = 16 << 20
    private static let maximumUsers = 1000

    private func upload(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let users = try body.objects("users")
        guard !users.isEmpty else { throw WireError("MISSING_USER_ACCOUNT") }
        guard users.count <= Self.maximumUsers else {
            throw WireError("INVALID_ARGUMENT", "users must not contain more than \(Self.maximumUsers) accounts.")
        }
        let replaces = try body.bool("allowOverwrite") ?? true
        let origin = try Self.origin(body, call.project)
        let now = accounts.importAccounts.now
        let entries = try users.map { try entry($0, origin, now) }
        if try body.bool("sanityCheck") ?? false {
            try Self.checkUniqueness(of: entries, emails: !call.project.settings.allowDuplicateEmails)
        }
        if !replaces {
            let twice = Self.firstRepeated(entries.lazy.map { $0.localID ?? "" })
            if let twice { throw WireError("DUPLICATE_LOCAL_ID", twice) }
        }
        let outcome = try await accounts.importAccounts(entries, replaces: replaces, call.project)
        return .json { json in
            json.kind("UploadAccountResponse")
            Self.write("error", outcome.problems.map { ($0.key, $0.value.rawValue) }, &json)
            // Not part of Firebase: its SDKs count every entry of `error` as a failure.
            let leftOut = outcome.leftOut.flatMap { index, all in all.map { (index, $0.rawValue) } }
            Self.write("warnings", leftOut, &json)
        }
    }

    private static func write(_ name: String, _ messages: [(index: Int, message: String)], _ json: inout JSONWriter) {
        guard !messages.isEmpty else { return }
        json.array(name) { json in
            for (index, message) in messages.sorted(by: <) {
                json.object { json in
                    json.member("index", number: Int64(index))
                    json.member("message", message)
                }
            }
        }
    }

    /// The algorithm of the request's hashes; nil if it states none.
    private static func origin(_ body: WireObject, _ project: Project) throws -> PasswordHash.Origin? {
        guard let (algorithm, key) = try PasswordAlgorithm.read(body) else { return nil }
        do throws(PasswordParameterError) {
            return try ImportAccounts.origin(algorithm, key: key, project)
        } catch {
            throw WireError("INVALID_HASH_PARAMETER", error.description)
        }
    }

    private func entry(
        _ user: WireObject,
        _ origin: PasswordHash.Origin?,
        _ now: Date
    ) throws -> ImportAccounts.Entry {
        var entry = try ImportAccounts.Entry(user)
        if case .string(let hash) = try user.value("passwordHash"),
            let password = accounts.importAccounts.password(inHash: hash)
        {
            entry.password = .plain(password)
        } else if let hash = try user.bytes("passwordHash"), !hash.isEmpty {
            guard let origin else { throw WireError("MISSING_HASH_ALGORITHM") }
            entry.password = .hash(PasswordHash(salt: try user.bytes("salt") ?? [], hash: hash, origin: origin))
        } else if let password = try user.string("rawPassword"), !password.isEmpty {
            entry.password = .plain(Secret(password))
        }
        if entry.password != nil { entry.passwordUpdatedAt = entry.passwordUpdatedAt ?? now }
        // Tokens of an earlier account with the ID must not be valid for this one.
        entry.validSince = entry.validSince ?? Int64(now.timeIntervalSince1970)
        return entry
    }

    /// The upload must not contain unique values twice.
    private static func checkUniqueness(of entries: [ImportAccounts.Entry], emails: Bool) throws(WireError) {
        if emails, let email = firstRepeated(entries.lazy.compactMap { $0.email?.lowercased() }) {
            throw WireError("DUPLICATE_EMAIL", email)
        }
        var seen: Set<[String]> = []
        for credential in entries.lazy.flatMap(\.linked) {
            let (provider, subject) = (credential.provider.rawValue, credential.subject)
            guard seen.insert([provider, subject]).inserted else {
                throw WireError("DUPLICATE_RAW_ID", "Provider id(\(provider)), Raw id(\(subject))")
            }
        }
    }

    private static func firstRepeated(_ texts: some Sequence<String>) -> String? {
        var seen: Set<String> = []
        return texts.first { !seen.insert($0).inserted }
    }
}
