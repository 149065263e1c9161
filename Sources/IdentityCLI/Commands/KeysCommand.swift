import ArgumentParser
import Foundation
import Secrets
import Sessions
import Storage

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List, rotate and revoke signing keys, and replace encryption keys.",
        discussion: """
            Signing keys rotate automatically (signing.rotationDays); see docs/operations/signing-keys.md, also for what to \
            do if a key is stolen.
            """,
        subcommands: [List.self, Rotate.self, Revoke.self, Reencrypt.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the signing keys in the order in which they sign."
        )
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "List the encryption keys with the number of values that each encrypts.") var encryption = false
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            // What lacks a key is exactly what the list of encryption keys is for.
            try await database.withStores(loads: !encryption) { stores in
                guard !encryption else {
                    print(try await KeysCommand.encryptionKeys(stores).text(json: json))
                    return
                }
                let (timeline, now) = (stores.configuration.signingKeyTimeline, seconds)
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

    /// The configured keys in their order, and missing ones; reads every encrypted value.
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
            abstract: "Encrypt all values again with the first key.",
            discussion: """
                Run this after you added a new key at the front of encryption.keys on every node. The service keeps \
                running. If a run is interrupted, run it again.
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
                    throw CommandFailure.failed("\(unreadable) values cannot be decrypted and were not changed")
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publish the next signing keys, one day before they sign."
        )
        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withStores { stores in
                try await stores.configuration.publishNextSigningKeys()
                for key in stores.configuration.signingKeyTimeline.keys where key.activeFrom > seconds {
                    print("\(key.kid) signs \(key.slot) from \(time(key.activeFrom))")
                }
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a signing key immediately, with every token that it signed.",
            discussion: """
                For a key that may have been stolen. If it is the current key, the next or a new key replaces it. Users stay \
                signed in: apps get new tokens with their refresh tokens.
                """
        )
        @OptionGroup var database: DatabaseOptions
        @Argument(help: "The ID from `keys list`.") var kid: String

        func run() async throws {
            try await database.withStores { stores in
                do {
                    try await stores.configuration.revokeSigningKey(kid)
                } catch ConfigurationError.notFound {
                    throw CommandFailure.failed("this signing key does not exist")
                }
                print("revoked \(kid)")
                let timeline = stores.configuration.signingKeyTimeline
                for key in timeline.keys where timeline.state(of: key, at: seconds) == .current {
                    print("\(key.kid) signs \(key.slot)")
                }
                print(
                    """
                    Back ends that verify tokens may cache the old keys for another \
                    \(SigningKeys.cacheSeconds) seconds: restart them to make that sooner.
                    """
                )
            }
        }
    }
}

private var seconds: Int64 { Int64(Date().timeIntervalSince1970) }

private func time(_ seconds: Int64) -> String { Date(timeIntervalSince1970: Double(seconds)).ISO8601Format() }
