package import Accounts
import Domain
import Foundation
import IdentityService
import Passwords
package import Projects
import Secrets
import Storage
import StrictJSON

/// Exports all accounts to files in the format of `firebase auth:export`: one for accounts without a password, and one
/// for each password hash algorithm, with a file of its parameters.
///
/// ``ImportUsers`` imports them, and a new export is then identical, byte for byte.
package struct ExportUsers: Sendable {
    private let admin: AdminAccounts
    private let project: Project
    private let format: UserFileFormat
    private let isPortable: Bool

    /// ``ImportUsers``' command looks for this file next to the users' file.
    package static let hashingEnding = ".hash-config.json"
    private static let page = 1000

    /// - Parameter isPortable: omits what `firebase auth:import` refuses; the CSV never contains it, nor second factors.
    package init(
        _ admin: AdminAccounts,
        of project: Project,
        as format: UserFileFormat,
        isPortable: Bool
    ) {
        self.isPortable = isPortable
        self.admin = admin
        self.project = project
        self.format = format
    }

    /// - Parameters:
    ///   - folder: created, or must be empty.
    ///   - written: called after each thousand accounts, with their number so far.
    /// - Returns: the files of users with their numbers of accounts, by name; and how many accounts have sign-in methods
    ///   or second factors that were left out.
    /// - Throws: ``UserFileError``; then the folder is empty.
    package func callAsFunction(
        to folder: String,
        written: (Int) -> Void
    ) async throws -> (files: [(file: String, accounts: Int)], reduced: Int) {
        var files = try ExportFolder(folder, format, signerKey: project.signerKey)
        do {
            var (count, reduced) = (0, 0)
            var page = try await list(after: nil)
            while let last = page.last?.account.id {
                let isLast = page.count < Self.page
                // The database reads the next page while this one is written.
                async let following = isLast ? [] : list(after: last)
                for listed in page { try files.write(try row(of: listed), listed.password?.hash.origin) }
                count += page.count
                if isPortable || format == .csv { reduced += page.count { $0.account.isReduced(in: format) } }
                written(count)
                page = try await following
            }
            return (try files.finish(), reduced)
        } catch {
            files.abandon()
            throw error
        }
    }

    private func list(after last: AccountID?) async throws -> [ListedAccount] {
        // One entry in the audit log for the whole export.
        try await admin.list(maxResults: Self.page, after: last, exports: last == nil, project)
    }

    private func row(of listed: ListedAccount) throws -> String {
        guard format == .json else { return CSVUserRow(listed.account, listed.password?.hash).text }
        var secrets: [String: [UInt8]] = [:]
        for factor in listed.account.secondFactors where factor.isTOTP {
            secrets[factor.id] = try admin.sharedSecret(of: factor, listed.account.id, project)
        }
        var json = JSONWriter()
        json.object { json in
            json.exported(listed.account, listed.password?.hash, isPortable: isPortable)
            if !isPortable { json.exportedBeyond(listed.account, secrets: secrets) }
        }
        return json.text
    }
}

/// The files of an export while they are written.
private struct ExportFolder {
    private let path: String
    private let format: UserFileFormat
    private let signerKey: [UInt8]
    /// By the hash algorithm of their accounts' passwords; nil for none.
    private var files: [PasswordHash.Origin?: ExportFile] = [:]

    init(_ path: String, _ format: UserFileFormat, signerKey: [UInt8]) throws(UserFileError) {
        self.path = path
        self.format = format
        self.signerKey = signerKey
        let manager = FileManager.default
        do {
            // The folder will contain password hashes.
            try manager.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            guard try manager.contentsOfDirectory(atPath: path).isEmpty else {
                throw UserFileError(file: path, reason: "is not empty: choose a new folder")
            }
        } catch let error as UserFileError {
            throw error
        } catch {
            throw UserFileError(file: path, reason: "cannot be written: \(error.localizedDescription)")
        }
        // There is always this file, even if it contains no accounts.
        files[nil] = try ExportFile("\(path)/\(Self.name(of: nil))", format)
    }

    mutating func write(_ row: String, _ origin: PasswordHash.Origin?) throws(UserFileError) {
        if let file = files[origin] { return try file.write(row) }
        let name = Self.name(of: origin.map { hashing(of: $0) })
        let file = try ExportFile("\(path)/\(name)", format)
        files[origin] = file
        try file.write(row)
    }

    private func hashing(of origin: PasswordHash.Origin) -> PasswordHashing {
        switch origin {
        case .project(let parameters): PasswordHashing(.firebaseScrypt(parameters: parameters), key: signerKey)
        case .imported(let configuration): PasswordHashing(configuration.algorithm, key: configuration.key)
        }
    }

    func finish() throws(UserFileError) -> [(file: String, accounts: Int)] {
        for file in files.values { try file.close() }
        for (origin, file) in files {
            try file.publish(beside: origin.map { hashing(of: $0).text + "\n" })
        }
        return files.values.map { ($0.path, $0.rows) }.sorted { $0.0 < $1.0 }
    }

    func abandon() {
        for file in files.values { file.remove() }
    }

    /// The same name for the same algorithm, in every project.
    private static func name(of hashing: PasswordHashing?) -> String {
        guard let hashing else { return "accounts" }
        let algorithm = (try? JSONValue(parsing: hashing.text))?.object?["hashAlgorithm"]?.string ?? ""
        let mark = SecureHash.sha256Hex(hashing.text).prefix(8)
        return "accounts-\(algorithm.lowercased().replacing("_", with: "-"))-\(mark)"
    }
}

/// A file of users, which gets its name once all are complete: a killed export leaves files that end in `.part`.
private final class ExportFile {
    let path: String
    private let hashingPath: String
    private(set) var rows = 0
    private let format: UserFileFormat
    private let handle: FileHandle
    private var buffer: [UInt8] = []

    /// - Parameter name: the path without its extension.
    init(_ name: String, _ format: UserFileFormat) throws(UserFileError) {
        path = "\(name).\(format.rawValue)"
        hashingPath = name + ExportUsers.hashingEnding
        self.format = format
        handle = try Self.create(path + Self.part)
        if format == .json { buffer += Array("{\"users\": [\n".utf8) }
    }

    func write(_ row: String) throws(UserFileError) {
        if format == .json, rows > 0 { buffer += Array(",\n".utf8) }
        buffer += Array(row.utf8)
        if format == .csv { buffer.append(0x0a) }
        rows += 1
        if buffer.count > 1 << 18 { try flush() }
    }

    private static let part = ".part"

    func close() throws(UserFileError) {
        if format == .json { buffer += Array("\n]}\n".utf8) }
        try flush()
        do {
            try handle.synchronize()
            try handle.close()
        } catch { throw Self.unwritable(path, error) }
    }

    /// - Parameter hashing: the hash algorithm; nil if there are no passwords.
    func publish(beside hashing: String?) throws(UserFileError) {
        if let hashing { try Self.write(hashing, to: hashingPath) }
        do { try FileManager.default.moveItem(atPath: path + Self.part, toPath: path) } catch {
            throw Self.unwritable(path, error)
        }
    }

    func remove() {
        for path in [path + Self.part, path, hashingPath] { try? FileManager.default.removeItem(atPath: path) }
    }

    private func flush() throws(UserFileError) {
        do { try handle.write(contentsOf: buffer) } catch { throw Self.unwritable(path, error) }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func write(_ text: String, to path: String) throws(UserFileError) {
        let handle = try create(path)
        do {
            try handle.write(contentsOf: Array(text.utf8))
            try handle.close()
        } catch { throw unwritable(path, error) }
    }

    /// Readable only by its owner.
    private static func create(_ path: String) throws(UserFileError) -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw UserFileError(file: path, reason: "cannot be written") }
        return handle
    }

    private static func unwritable(_ path: String, _ error: any Error) -> UserFileError {
        UserFileError(file: path, reason: "cannot be written: \(error.localizedDescription)")
    }
}
