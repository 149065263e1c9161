import Foundation
import IdentityService
package import Passwords
import StrictJSON

/// The hash algorithm of a file's passwords: the members of `accounts:batchCreate`, or the parameters that Firebase's
/// console shows (`hash_config { algorithm: SCRYPT, … }`).
package struct PasswordHashing: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package let algorithm: PasswordAlgorithm
    /// Empty for algorithms without one.
    package let key: [UInt8]

    package init(_ algorithm: PasswordAlgorithm, key: [UInt8]) {
        self.algorithm = algorithm
        self.key = key
    }

    /// - Parameter file: the file's name for errors.
    /// - Throws: ``UserFileError``.
    package init(_ text: String, file: String) throws(UserFileError) {
        // Editors begin a file with a byte order mark.
        let text = text.unicodeScalars.first == "\u{feff}" ? String(text.unicodeScalars.dropFirst()) : text
        do {
            guard let members = try Self.members(of: text), let (algorithm, key) = try PasswordAlgorithm.read(members)
            else { throw UserFileError(file: file, reason: "does not contain hashAlgorithm") }
            do { try algorithm.check(key: key) } catch { throw UserFileError(file: file, reason: "\(error)") }
            self.init(algorithm, key: key)
        } catch let error as UserFileError {
            throw error
        } catch let error as WireError {
            throw UserFileError(file: file, reason: error.message)
        } catch {
            throw UserFileError(
                file: file,
                reason: "is neither JSON nor the parameters from Firebase's console: \(error)"
            )
        }
    }

    /// As a JSON object that ``init(_:file:)`` reads.
    package var text: String {
        var json = JSONWriter()
        json.object { $0.hashAlgorithm(algorithm, key: key) }
        return json.text
    }

    package var description: String { "PasswordHashing" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    private static func members(of text: String) throws -> WireObject? {
        if text.contains("hash_config") || !text.contains("\"") { return shown(text) }
        return try JSONValue(parsing: text).object.map { WireObject($0.members) }
    }

    /// The console's names, with those of uploads.
    private static let consoleNames = [
        "algorithm": "hashAlgorithm", "base64_signer_key": "signerKey", "base64_salt_separator": "saltSeparator",
        "rounds": "rounds", "mem_cost": "memoryCost",
    ]

    private static func shown(_ text: String) -> WireObject? {
        var members: [JSONObject.Member] = []
        for match in text.matches(of: /([a-z0-9_]+)\s*:\s*([^\s,{}]+)/) {
            guard let name = consoleNames[String(match.1)] else { continue }
            members.append(JSONObject.Member(name: name, value: .string(String(match.2))))
        }
        return members.isEmpty ? nil : WireObject(members)
    }
}
