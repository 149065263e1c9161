import Foundation
import Secrets

/// The folder of an `identity dev`: its database, its encryption key, and the connection string while it runs.
struct DataFolder: Sendable {
    let path: String

    init(path: String) { self.path = URL(filePath: path).standardizedFileURL.path }

    private var conninfoFile: String { path + "/conninfo" }
    private var keyFile: String { path + "/encryption.key" }

    /// Of the running or last `dev`.
    var conninfo: String? { try? String(contentsOfFile: conninfoFile, encoding: .utf8) }

    func write(conninfo: String) throws {
        do { try conninfo.write(toFile: conninfoFile, atomically: true, encoding: .utf8) } catch {
            throw CommandFailure.configuration("\(path) cannot be written")
        }
    }

    /// The folder's encryption key, created if there is none; readable only by its owner.
    func keyRing(random: RandomSource = .system) throws -> KeyRing {
        if let text = try? String(contentsOfFile: keyFile, encoding: .utf8), let bytes = Data(base64Encoded: text) {
            return try KeyRing(keys: [KeyRing.Key(id: "dev", bytes: [UInt8](bytes))])
        }
        let bytes = random.bytes(32)
        let made = FileManager.default.createFile(
            atPath: keyFile,
            contents: Data(Data(bytes).base64EncodedString().utf8),
            attributes: [.posixPermissions: 0o600]
        )
        guard made else { throw CommandFailure.configuration("\(path) cannot be written") }
        return try KeyRing(keys: [KeyRing.Key(id: "dev", bytes: bytes)])
    }
}
