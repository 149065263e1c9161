package import Accounts
import Administration
import Foundation
import IdentityService
import Passwords
package import Projects
import Secrets
package import Storage

extension EmulatorFolder {
    /// The result of an import.
    package struct Imported: Sendable {
        package var accounts = 0
        /// Accounts whose ids are taken; they are left unchanged.
        package var knownAccounts = 0
        /// A line for each account or file that was not imported: file, row and reason.
        package var refused: [String] = []
        /// A line for each imported account of which something was left out.
        package var incomplete: [String] = []
    }

    /// Imports the folder: everything is read before anything is written, then each account is written completely or
    /// not at all.
    ///
    /// - Returns: nil when the export is only of other emulators.
    /// - Throws: ``EmulatorFolderError`` when a file cannot be read; nothing was written then.
    package func importAccounts(
        into project: Project,
        _ stores: Stores,
        _ accounts: AccountsService
    ) async throws -> Imported? {
        guard let content = try read() else { return nil }
        let config = "\(content.folder)/\(Self.configFile)"
        let changes = try members(config) { try Setting.changes(inEmulatorConfig: content.config) }
        let rows = content.users.enumerated().map { row(at: $0.offset, $0.element, content) }
        // Everything has been read; writing starts here.
        var project = project
        if !changes.isEmpty {
            project = try await AdministrationService(stores: stores).changeSettings(changes, of: project.id)
        }
        var keyFits = false
        if let hashing = content.hashing {
            keyFits = try await stores.configuration.adoptPasswordSignerKey(hashing.signerKey, of: project.id)
            project = stores.configuration.snapshot.project(project.id) ?? project
        }
        var imported = Imported()
        imported.refused = content.leftOut.map { error($0, "accounts of tenants are not imported").description }
        var entries: [(row: Row, entry: ImportAccounts.Entry)] = []
        for row in rows {
            do {
                entries.append((row, try row.entry.get().with(row.password, of: project, keyFits: keyFits)))
            } catch {
                imported.refused.append(row.refusal(error.reason))
            }
        }
        let outcome = try await accounts.importAccounts(
            entries.map(\.entry),
            keepsUnverifiedFactors: true,
            project
        )
        for (index, problem) in outcome.problems.sorted(by: { $0.key < $1.key }) {
            if problem == .accountExists {
                imported.knownAccounts += 1
            } else {
                imported.refused.append(entries[index].row.refusal(problem.rawValue))
            }
        }
        for (index, omissions) in outcome.leftOut.sorted(by: { $0.key < $1.key }) {
            imported.incomplete += omissions.map { entries[index].row.refusal($0.rawValue) }
        }
        imported.accounts = entries.count - outcome.problems.count
        return imported
    }

    private func row(at index: Int, _ user: WireObject, _ content: Content) -> Row {
        let file = "\(path)/\(content.folder)/\(Self.accountsFile)"
        do {
            var entry = try ImportAccounts.Entry(user)
            for (index, enrollment) in try user.objects("mfaInfo").enumerated() {
                // The shown number is masked; the emulator keeps the full one next to it.
                if let number = try enrollment.string("unobfuscatedPhoneInfo") {
                    entry.secondFactors[index].phoneNumber = number
                }
                entry.secondFactors[index].sharedSecret = try enrollment.string("emulatorTotpSecret")
                    .flatMap { Base32.decode($0) }
            }
            let password = try ExportedPassword(user, content.hashing)
            return Row(file: file, index: index, entry: .success(entry), password: password)
        } catch {
            let reason = (error as? WireError)?.message ?? (error as? RowError)?.reason ?? "cannot be read"
            return Row(file: file, index: index, entry: .failure(RowError(reason: reason)), password: nil)
        }
    }
}

private struct RowError: Error {
    var reason: String
}

/// A user of `accounts.json`.
private struct Row: Sendable {
    var file: String
    var index: Int
    var entry: Result<ImportAccounts.Entry, RowError>
    var password: ExportedPassword?

    /// Names the row, and the account by its id, escaped so that it cannot forge a line.
    func refusal(_ reason: String) -> String {
        let id = (try? entry.get())?.localID.map { " (localId \($0.prefix(128).debugDescription))" } ?? ""
        return "\(file): users[\(index)]\(id): \(reason)"
    }
}

/// A password in `accounts.json`: the emulator's readable form, or one of our hashes.
private enum ExportedPassword: Sendable {
    case plain(Secret)
    case hash(PasswordHash)
    case imported(salt: [UInt8], hash: [UInt8], HashConfiguration.Imported)

    /// - Returns: nil for a user without a password.
    init?(_ user: WireObject, _ hashing: HashConfiguration?) throws {
        let hash = try user.string("passwordHash") ?? ""
        if let password = ReadableHashes.password(in: hash) {
            self = .plain(password)
        } else if let password = try user.string("rawPassword") {
            self = .plain(Secret(password))
        } else if hash.isEmpty {
            return nil
        } else {
            guard let hashing else {
                throw RowError(
                    reason: "passwordHash is not from the emulator, and \(EmulatorFolder.hashFile) is missing"
                )
            }
            let id = try user.string("localId") ?? ""
            let imported = hashing.imported.first { $0.accounts.contains(id) }
            guard let bytes = Base64URL.decode(hash.prefix { $0 != "=" }), imported != nil || bytes.count == 64,
                let salt = Base64URL.decode((try user.string("salt") ?? "").prefix { $0 != "=" }), salt.count <= 64
            else {
                throw RowError(reason: "passwordHash or salt does not match \(EmulatorFolder.hashFile)")
            }
            if let imported {
                self = .imported(salt: salt, hash: bytes, imported)
            } else {
                let own = hashing.exceptions[id]
                self = .hash(PasswordHash(salt: salt, hash: bytes, parameters: own ?? hashing.parameters))
            }
        }
    }
}

extension ImportAccounts.Entry {
    fileprivate func with(
        _ password: ExportedPassword?,
        of project: Project,
        keyFits: Bool
    ) throws(RowError) -> ImportAccounts.Entry {
        var entry = self
        switch password {
        case nil: break
        case .plain(let password): entry.password = .plain(password)
        case .hash(let hash):
            guard keyFits else {
                throw RowError(reason: "its password hash uses another signer key than the project's")
            }
            entry.password = .hash(hash)
        case .imported(let salt, let hash, let made):
            do throws(PasswordParameterError) {
                let origin = try ImportAccounts.origin(made.algorithm, key: made.key, project)
                entry.password = .hash(PasswordHash(salt: salt, hash: hash, origin: origin))
            } catch {
                throw RowError(reason: "\(EmulatorFolder.hashFile): \(error)")
            }
        }
        return entry
    }
}
