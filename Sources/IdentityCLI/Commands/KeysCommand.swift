import ArgumentParser
import Foundation
import Secrets
import Sessions
import Storage

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List, rotate and revoke the keys that sign tokens, and replace those that encrypt.",
        discussion: """
            They follow one another by themselves (signing.rotationDays); docs/operations/signing-keys.md says how, and \
            what to do when one was taken away.
            """,
        subcommands: [List.self, Rotate.self, Revoke.self, Reencrypt.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the signing keys, in the order in which they sign."
        )
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "List the encryption keys, and how many values are encrypted with each.") var encryption = false
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await database.withStores { stores in
                guard !encryption else {
                    print(try await KeysCommand.encryptionKeys(stores).text(json: json))
                    return
                }
                let (timeline, now) = (stores.configuration.signingKeyTimeline.keys, seconds)
                let rows = timeline.keys.map { key in
                    [
                        key.kid, key.slot.purpose.rawValue, key.slot.algorithm.rawValue,
                        timeline.state(of: key, at: now).rawValue, time(key.createdAt), time(key.activeFrom),
                        timeline.end(of: key).map(time) ?? "", timeline.removal(of: key).map(time) ?? "",
                    ]
                }
                let header = [
                    "KID", "PURPOSE", "ALGORITHM", "STATE", "CREATED", "SIGNS FROM", "SIGNS UNTIL", "PUBLISHED UNTIL",
                ]
                print(Table(header, rows).text(json: json))
            }
        }
    }

    /// Those of the configuration in their order, and those that it lacks; reads every encrypted value.
    private static func encryptionKeys(_ stores: Stores) async throws -> Table {
        let usage = try await stores.sealed.usage()
        let ids = stores.keyRing.ids
        let rows = (ids + Set(usage.keys).subtracting(ids).sorted()).map { id in
            [id, id == ids[0] ? "encrypts" : ids.contains(id) ? "decrypts" : "missing", "\(usage[id] ?? 0)"]
        }
        return Table(["ID", "STATE", "VALUES"], rows)
    }

    struct Reencrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Encrypt with the first key whatever another one encrypted.",
            discussion: """
                For a new key at the front of encryption.keys, once every node has it. The service goes on meanwhile; \
                a run that was broken off is simply begun again.
                """
        )
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStores { stores in
                var unreadable = 0
                var said = 0
                try await stores.sealed.reseal { progress in
                    guard progress.isDone || progress.resealed >= said + 10_000 else { return }
                    said = progress.isDone ? 0 : progress.resealed
                    if progress.isDone { unreadable += progress.unreadable }
                    print("\(progress.column.name): \(progress.resealed)\(progress.isDone ? "" : " …")")
                }
                print(try await KeysCommand.encryptionKeys(stores))
                guard unreadable == 0 else {
                    throw CommandFailure.failed("\(unreadable) values cannot be decrypted and stay as they are")
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publish the keys that sign next, a day before they do."
        )
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStores { stores in
                try await stores.configuration.publishNextSigningKeys()
                for key in stores.configuration.signingKeyTimeline.keys.keys where key.activeFrom > seconds {
                    print("\(key.kid) signs \(key.slot) from \(time(key.activeFrom))")
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a signing key at once, with every token that it signed.",
            discussion: """
                For a key that somebody else may have. If it signs, the next one or a new one does from now on. Nobody is \
                signed out: apps get new tokens with their refresh tokens.
                """
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The id that `keys list` shows.") var kid: String

        func run() async throws {
            try await database.withStores { stores in
                do {
                    try await stores.configuration.revokeSigningKey(kid)
                } catch ConfigurationError.notFound {
                    throw CommandFailure.failed("there is no such signing key")
                }
                print("revoked \(kid)")
                let timeline = stores.configuration.signingKeyTimeline.keys
                for key in timeline.keys where timeline.state(of: key, at: seconds) == .current {
                    print("\(key.kid) signs \(key.slot)")
                }
                print(
                    """
                    Back ends that verify tokens by themselves may know the old keys for another \
                    \(SigningKeys.cacheSeconds) seconds: restart them to make that sooner.
                    """
                )
            }
        }
    }
}

private var seconds: Int64 { Int64(Date().timeIntervalSince1970) }

private func time(_ seconds: Int64) -> String { Date(timeIntervalSince1970: Double(seconds)).ISO8601Format() }
