import Foundation
import IdentityService
import Passwords
import Secrets
import StrictJSON

/// How the password hashes of an export were made.
///
/// Firebase's scrypt, described as in a project's `signIn.hashConfig`; imported hashes are described as in an upload.
struct HashConfiguration: Sendable, Hashable {
    /// Base64, 64 bytes.
    var signerKey: Secret
    var parameters: ScryptParameters
    /// Parameters of accounts whose hashes differ from the others', by account id.
    var exceptions: [String: ScryptParameters] = [:]
    /// Imported hashes, grouped with the accounts that have them.
    var imported: [Imported] = []

    struct Imported: Sendable, Hashable {
        var algorithm: PasswordAlgorithm
        var key: [UInt8]
        var accounts: [String]
    }

    struct Unreadable: Error {}

    init(signerKey: Secret, parameters: ScryptParameters) {
        self.signerKey = signerKey
        self.parameters = parameters
    }

    init(_ members: WireObject) throws {
        guard try members.string("algorithm") == "SCRYPT", let key = try members.string("signerKey"),
            Data(base64Encoded: key)?.count == 64
        else { throw Unreadable() }
        self.init(signerKey: Secret(key), parameters: try Self.parameters(members))
        for account in try members.objects("exceptions") {
            guard let id = try account.string("localId") else { throw Unreadable() }
            exceptions[id] = try Self.parameters(account)
        }
        for members in try members.objects("imported") {
            guard let (algorithm, key) = try PasswordAlgorithm.read(members) else { throw Unreadable() }
            imported.append(Imported(algorithm: algorithm, key: key, accounts: try members.strings("localIds")))
        }
    }

    private static func parameters(_ members: WireObject) throws -> ScryptParameters {
        guard let rounds = try members.int64("rounds"), let cost = try members.int64("memoryCost"),
            let separator = try members.string("saltSeparator").flatMap({ Data(base64Encoded: $0) }),
            let parameters = ScryptParameters(
                rounds: Int(rounds),
                memoryCost: Int(cost),
                saltSeparator: [UInt8](separator)
            )
        else { throw Unreadable() }
        return parameters
    }

    /// As a JSON object.
    var text: String {
        var json = JSONWriter()
        json.object { json in
            json.member("algorithm", "SCRYPT")
            json.member("signerKey", signerKey.reveal())
            Self.write(parameters, &json)
            writeExceptions(&json)
            writeImported(&json)
        }
        return json.text
    }

    private func writeExceptions(_ json: inout JSONWriter) {
        guard !exceptions.isEmpty else { return }
        json.array("exceptions") { json in
            for (id, parameters) in exceptions.sorted(by: { $0.key < $1.key }) {
                json.object { json in
                    json.member("localId", id)
                    Self.write(parameters, &json)
                }
            }
        }
    }

    private func writeImported(_ json: inout JSONWriter) {
        guard !imported.isEmpty else { return }
        json.array("imported") { json in
            for hashes in imported {
                json.object { json in
                    json.hashAlgorithm(hashes.algorithm, key: hashes.key)
                    json.member("localIds", strings: hashes.accounts)
                }
            }
        }
    }

    private static func write(_ parameters: ScryptParameters, _ json: inout JSONWriter) {
        json.member("saltSeparator", Data(parameters.saltSeparator).base64EncodedString())
        json.member("rounds", number: Int64(parameters.rounds))
        json.member("memoryCost", number: Int64(parameters.memoryCost))
    }
}
