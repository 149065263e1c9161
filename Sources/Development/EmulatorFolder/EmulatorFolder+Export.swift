package import Accounts
import Domain
import Foundation
import IdentityService
import Passwords
package import Projects
import Secrets
package import Storage
import StrictJSON

extension EmulatorFolder {
    /// Checks that an export may be written here: the folder is empty, or holds another export.
    ///
    /// - Throws: ``EmulatorFolderError``.
    package func checkWritable() throws(EmulatorFolderError) {
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == nil || type == .typeDirectory || type == .typeSymbolicLink else {
            throw EmulatorFolderError(file: path, reason: "is not a folder")
        }
        guard isEmpty || hasMetadata else {
            throw EmulatorFolderError(file: path, reason: "contains other files than an export, and is not overwritten")
        }
    }

    /// Writes a project's accounts and the emulator's two settings in the emulator's format.
    ///
    /// The old export stays until the new one is complete; exports of other emulators are kept.
    ///
    /// - Returns: the number of accounts written.
    @discardableResult
    package func export(_ project: Project, _ stores: Stores, _ accounts: AccountsService) async throws -> Int {
        try checkWritable()
        var users: [String] = []
        var passwords: [(id: String, hash: PasswordHash)] = []
        var last: AccountID?
        while true {
            let page = try await accounts.admin.list(
                maxResults: 1000,
                after: last,
                exports: last == nil,
                project
            )
            for listed in page {
                users.append(try text(of: listed, project, accounts))
                if let hash = listed.password?.hash { passwords.append((listed.account.id.rawValue, hash)) }
            }
            guard page.count == 1000, let next = page.last?.account.id else { break }
            last = next
        }
        let download = """
            {"kind":"identitytoolkit#DownloadAccountResponse","users":[
            \(users.joined(separator: ",\n"))
            ]}

            """
        var files = [Self.accountsFile: download, Self.configFile: EmulatorRoutes.configText(of: project) + "\n"]
        if let hashing = hashing(passwords, project) { files[Self.hashFile] = hashing.text + "\n" }
        do { try write(files) } catch let error as EmulatorFolderError { throw error } catch {
            throw EmulatorFolderError(file: path, reason: "cannot be written: \(error.localizedDescription)")
        }
        return users.count
    }

    /// Nil when there are no passwords.
    private func hashing(_ passwords: [(id: String, hash: PasswordHash)], _ project: Project) -> HashConfiguration? {
        guard !passwords.isEmpty else { return nil }
        var costs: [(id: String, parameters: ScryptParameters)] = []
        var imported: [PasswordConfiguration: [String]] = [:]
        for (id, hash) in passwords {
            switch hash.origin {
            case .project(let parameters): costs.append((id, parameters))
            case .imported(let configuration): imported[configuration, default: []].append(id)
            }
        }
        var counts: [ScryptParameters: Int] = [:]
        for cost in costs { counts[cost.parameters, default: 0] += 1 }
        // The most frequent parameters; on a tie, the first ones.
        let most = counts.values.max()
        let usual = costs.first { counts[$0.parameters] == most }?.parameters ?? .standard
        var hashing = HashConfiguration(signerKey: project.passwordSignerKey, parameters: usual)
        for cost in costs where cost.parameters != usual { hashing.exceptions[cost.id] = cost.parameters }
        hashing.imported = imported.map { configuration, accounts in
            HashConfiguration.Imported(algorithm: configuration.algorithm, key: configuration.key, accounts: accounts)
        }.sorted { $0.accounts[0] < $1.accounts[0] }
        return hashing
    }

    /// The account as `accounts:batchGet` returns it, plus the secrets of authenticator apps, which the emulator keeps
    /// readable, and imported hashes.
    private func text(of listed: ListedAccount, _ project: Project, _ accounts: AccountsService) throws -> String {
        var json = JSONWriter()
        json.object { $0.account(listed.account, for: .export(listed.password?.hash)) }
        let factors = listed.account.secondFactors
        let imported = listed.password.map(\.hash).flatMap { $0.parameters == nil ? $0 : nil }
        guard imported != nil || factors.contains(where: \.isTOTP), var user = try JSONValue(parsing: json.text).object
        else {
            return json.text
        }
        if let imported {
            user["passwordHash"] = .string(Base64URL.encode(imported.hash))
            user["salt"] = .string(Base64URL.encode(imported.salt))
        }
        guard case .array(var enrollments)? = user["mfaInfo"] else { return JSONValue.object(user).jsonText }
        for (index, factor) in factors.enumerated() {
            guard case .object(var enrollment) = enrollments[index],
                let secret = try accounts.admin.sharedSecret(of: factor, listed.account.id, project)
            else { continue }
            enrollment["emulatorTotpSecret"] = .string(Base32.encode(secret))
            enrollments[index] = .object(enrollment)
        }
        user["mfaInfo"] = .array(enrollments)
        return JSONValue.object(user).jsonText
    }

    // MARK: Writing

    private func write(_ files: [String: String]) throws {
        let manager = FileManager.default
        let target = "\(path)/\(Self.exportFolder)"
        let (new, old) = ("\(target).new", "\(target).old")
        try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
        for leftover in [new, old] { try? manager.removeItem(atPath: leftover) }
        try manager.createDirectory(atPath: new, withIntermediateDirectories: false)
        for (name, text) in files {
            // Readable by the owner only: it contains password hashes.
            let made = manager.createFile(
                atPath: "\(new)/\(name)",
                contents: Data(text.utf8),
                attributes: [.posixPermissions: 0o600]
            )
            guard made else { throw error("\(Self.exportFolder).new/\(name)", "cannot be written") }
        }
        let metadata = try metadataText()
        if manager.fileExists(atPath: target) { try manager.moveItem(atPath: target, toPath: old) }
        try manager.moveItem(atPath: new, toPath: target)
        try metadata.write(toFile: "\(path)/\(Self.metadataFile)", atomically: true, encoding: .utf8)
        try? manager.removeItem(atPath: old)
    }

    /// Members of other emulators are kept unchanged.
    private func metadataText() throws -> String {
        var metadata = JSONObject()
        if hasMetadata { metadata = JSONObject(try object(in: Self.metadataFile).members) }
        if metadata["version"] == nil { metadata["version"] = .string(Self.version) }
        var auth = JSONObject()
        auth["version"] = .string(Self.version)
        auth["path"] = .string(Self.exportFolder)
        metadata["auth"] = .object(auth)
        return JSONValue.object(metadata).jsonText + "\n"
    }
}
