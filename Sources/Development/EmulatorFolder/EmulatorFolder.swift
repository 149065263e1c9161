import Foundation
import IdentityService
import Secrets
import StrictJSON

/// The accounts' part of a folder that Firebase's emulators export (`firebase emulators:export DIR`):
/// `firebase-export-metadata.json`, and `config.json` and `accounts.json` in `auth_export/`.
///
/// Anything else in the folder belongs to other emulators and is left unchanged.
package struct EmulatorFolder: Sendable, Hashable {
    package let path: String

    package init(path: String) { self.path = URL(filePath: path).standardizedFileURL.path }

    static let metadataFile = "firebase-export-metadata.json"
    static let accountsFile = "accounts.json"
    static let configFile = "config.json"
    /// Our own file: how the password hashes of `accounts.json` were made.
    ///
    /// The emulator reads only the other two files.
    static let hashFile = "hash_config.json"
    static let exportFolder = "auth_export"
    /// The version of firebase-tools: the newest one whose exports were tested.
    static let version = "15.17.0"

    /// The folder's accounts and settings, fully read and checked, with nothing applied yet.
    struct Content: Sendable {
        var users: [WireObject] = []
        var config = WireObject()
        var hashing: HashConfiguration?
        /// The folder's name inside the export.
        var folder = EmulatorFolder.exportFolder
        /// Tenants' files, which are not imported.
        var leftOut: [String] = []
    }

    /// True when the folder is missing or empty.
    package var isEmpty: Bool { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).isEmpty }

    var hasMetadata: Bool { exists(Self.metadataFile) }

    // MARK: Reading

    /// Reads everything, only to report errors.
    package func checkReadable() throws(EmulatorFolderError) { _ = try read() }

    /// - Returns: nil when the export is only of other emulators.
    func read() throws(EmulatorFolderError) -> Content? {
        guard hasMetadata else {
            throw error(Self.metadataFile, "is missing: this is not a folder that emulators exported")
        }
        let metadata = try object(in: Self.metadataFile)
        guard let auth = try members(Self.metadataFile, { try metadata.object("auth") }) else { return nil }
        let (version, folder) = try members(Self.metadataFile) { (try auth.string("version"), try auth.string("path")) }
        guard let version, version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+\-]*)?/) != nil else {
            throw error(Self.metadataFile, "auth.version is not a version of firebase-tools")
        }
        var content = Content()
        content.folder = folder ?? Self.exportFolder
        guard content.folder.wholeMatch(of: /[^\/\\]+/) != nil, content.folder != ".." else {
            throw error(Self.metadataFile, "auth.path leads out of the folder")
        }
        let accounts = "\(content.folder)/\(Self.accountsFile)"
        guard exists(accounts) else { throw error(accounts, "is missing, though \(Self.metadataFile) names it") }
        let download = try object(in: accounts)
        content.users = try members(accounts) { try download.objects("users") }
        let config = "\(content.folder)/\(Self.configFile)"
        if exists(config) { content.config = try object(in: config) }
        let hashing = "\(content.folder)/\(Self.hashFile)"
        if exists(hashing) {
            let members = try object(in: hashing)
            guard let read = try? HashConfiguration(members) else {
                throw error(hashing, "does not describe Firebase's scrypt, as signIn.hashConfig of a project does")
            }
            content.hashing = read
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(content.folder)")) ?? []
        content.leftOut = names.filter { $0.hasPrefix("accounts-") && $0.hasSuffix(".json") }.sorted()
            .map { "\(content.folder)/\($0)" }
        return content
    }

    func error(_ file: String, _ reason: String) -> EmulatorFolderError {
        EmulatorFolderError(file: "\(path)/\(file)", reason: reason)
    }

    private func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(file)") }

    func object(in file: String) throws(EmulatorFolderError) -> WireObject {
        guard var data = FileManager.default.contents(atPath: "\(path)/\(file)") else {
            throw error(file, "cannot be read")
        }
        // Editors begin a file with a byte order mark.
        if data.starts(with: [0xef, 0xbb, 0xbf]) { data = Data(data.dropFirst(3)) }
        do {
            guard let object = try JSONValue(parsing: data).object else { throw error(file, "contains no JSON object") }
            return WireObject(object.members)
        } catch let found as JSONError {
            throw error(file, "is not valid JSON: \(found)")
        } catch let found as EmulatorFolderError {
            throw found
        } catch {
            throw self.error(file, "cannot be read")
        }
    }

    /// Runs `body` on a file's members; a member of the wrong type becomes an error of that file.
    func members<Value>(_ file: String, _ body: () throws -> Value) throws(EmulatorFolderError) -> Value {
        do {
            return try body()
        } catch let found as WireError {
            throw error(file, found.message)
        } catch {
            throw self.error(file, "cannot be read")
        }
    }
}

/// Why an emulator folder cannot be used: file and reason.
package struct EmulatorFolderError: Error, Equatable, CustomStringConvertible {
    package var file: String
    package var reason: String

    package var description: String { "\(file): \(reason)" }
}
