import Configuration
import Foundation
import Secrets

/// The source of the encryption keys: each is `id:base64 of 32 bytes`, and the first one encrypts.
///
/// A file or a command's output contains one key per line, or keys separated by commas.
enum EncryptionKeys: Sendable {
    /// `encryption.keys` (secret).
    case listed([Secret])
    /// `encryption.keysFile`: a file that a key-management system mounts.
    case file(String)
    /// `encryption.keysCommand`: a program and its arguments, which prints the keys from a key-management system.
    case command([String])

    /// The maximum size of the text in bytes.
    private static let sizeLimit = 65_536

    /// Nil if none is configured.
    init?(_ reader: ConfigReader) throws {
        let listed = ServiceConfiguration.list("encryption.keys", reader)
        let file = reader.string(forKey: "encryption.keysFile").flatMap { $0.isEmpty ? nil : $0 }
        let command = ServiceConfiguration.list("encryption.keysCommand", reader)
        let sources: [EncryptionKeys?] = [
            listed.isEmpty ? nil : .listed(listed.map { Secret($0) }), file.map { .file($0) },
            command.isEmpty ? nil : .command(command),
        ]
        let given = sources.compactMap(\.self)
        guard given.count < 2 else {
            throw CommandFailure.configuration(
                "set only one of encryption.keys, encryption.keysFile and encryption.keysCommand"
            )
        }
        guard let source = given.first else { return nil }
        self = source
    }

    private var name: String {
        switch self {
        case .listed: "encryption.keys"
        case .file: "encryption.keysFile"
        case .command: "encryption.keysCommand"
        }
    }

    func keyRing() async throws -> KeyRing {
        let keys: [Secret]
        do throws(ProgramOutput.Failure) {
            switch self {
            case .listed(let listed): keys = listed
            case .file(let path): keys = Self.keys(in: try Self.contents(of: path))
            case .command(let command):
                keys = Self.keys(in: try await ProgramOutput.read(command, upTo: Self.sizeLimit))
            }
        } catch {
            throw CommandFailure.configuration("\(name): \(error.text)")
        }
        do {
            return try KeyRing(
                keys: keys.map { secret in
                    let parts = secret.reveal().split(separator: ":", maxSplits: 1).map { String($0) }
                    guard parts.count == 2, let bytes = Data(base64Encoded: parts[1]) else {
                        throw KeyRingError.invalidKey("each key must be id:base64, with 32 bytes")
                    }
                    return try KeyRing.Key(id: parts[0], bytes: [UInt8](bytes))
                }
            )
        } catch KeyRingError.invalidKey(let reason) {
            throw CommandFailure.configuration("\(name): \(reason)")
        }
    }

    private static func contents(of path: String) throws(ProgramOutput.Failure) -> Data {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: sizeLimit + 1) else {
            throw ProgramOutput.Failure("the file cannot be read or is empty")
        }
        guard data.count <= sizeLimit else { throw ProgramOutput.Failure("the file is too long") }
        return data
    }

    private static func keys(in data: Data) -> [Secret] {
        String(decoding: data, as: UTF8.self).split { $0 == "," || $0.isNewline }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.map { Secret($0) }
    }
}
