import Accounts
import ArgumentParser
import Domain
import Foundation
import IdentityService
import Projects
import Storage

extension UsersCommand {
    struct Merge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Merge an account into another account of the same user; can be undone for a week.",
            usage: "identity users merge KEEP MERGED [--dry-run] [--drop METHOD ...]"
        )
        @OptionGroup var options: Options
        @Argument(help: "The ID of the account that remains.") var keep: String
        @Argument(help: "The ID of the account to merge; it becomes an alias of the other.") var merged: String
        @Flag(help: "Print the result, and write nothing.") var dryRun = false
        @Option(
            parsing: .upToNextOption,
            help: """
                A sign-in method of the merged account to drop: an identity provider, password, phone, emailLink, or \
                mfa for its second factors.
                """
        )
        var drop: [String] = []

        func run() async throws {
            var request = MergeAccounts.Request()
            request.localID = keep
            request.mergedLocalID = merged
            request.dropped = Set(drop.map { ProviderID($0) })
            request.validateOnly = dryRun
            let asked = request
            try await options.target.withAccounts { accounts, project in
                let result = try await UsersCommand.readably {
                    try await accounts.mergeAccounts(asked, project)
                }
                print(AccountTable([result.account]).text(json: options.json))
                UsersCommand.note(
                    "moved",
                    result.merge.moved.map(\.rawValue) + result.merge.movedFactors.map { "factor \($0.id)" }
                )
                UsersCommand.note("dropped", result.merge.givenUp.map(\.rawValue))
                UsersCommand.note("reserved address", [result.merge.rest.email?.canonical].compactMap(\.self))
                UsersCommand.note("conflicts", result.merge.conflicts.map { "\($0.method) (\($0.reason.rawValue))" })
                guard let id = result.id else { return }
                UsersCommand.note("undo with", ["identity users undo-merge \(id)"])
                UsersCommand.note("until", [result.undoableUntil?.ISO8601Format()].compactMap(\.self))
            }
        }
    }

    struct UndoMerge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Undo a merge; anything changed since stays as it is.",
            usage: "identity users undo-merge ID"
        )
        @OptionGroup var options: Options
        @Argument(help: "The merge ID.") var id: String

        func run() async throws {
            try await options.target.withAccounts { accounts, project in
                let both = try await UsersCommand.readably {
                    try await accounts.mergeAccounts.undo(id, project)
                }
                print(AccountTable([both.survivor, both.restored]).text(json: options.json))
                UsersCommand.note("changed since, not moved back", both.left.map(\.rawValue))
            }
        }
    }

    /// On standard error, because programs read standard output.
    fileprivate static func note(_ title: String, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        FileHandle.standardError.say(Data("identity: \(title): \(texts.joined(separator: ", "))\n".utf8))
    }

    /// Reports refusals with the API's messages.
    fileprivate static func readably<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as AccountsError {
            throw CommandFailure.failed(WireError(error).message)
        }
    }
}
