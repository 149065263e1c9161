import ArgumentParser
import Domain
import Foundation
import Projects
import Storage

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Look up accounts and their linked providers, and merge accounts.",
        subcommands: [
            List.self, Show.self, Find.self, Query.self, Providers.self, Merge.self, UndoMerge.self,
        ]
    )

    struct Options: ParsableArguments {
        @OptionGroup var target: ScopeOptions
        @Flag(help: "Print JSON.") var json = false

        func printAccounts(_ body: (Stores, Scope) async throws -> [Account]) async throws {
            try await target.withProject { stores, project in
                print(AccountTable(try await body(stores, project.scope)).text(json: json))
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List accounts, ordered by ID.")
        @OptionGroup var options: Options
        @Option(help: "The maximum number, 1 to 1000.") var limit = 100
        @Option(help: "Start after this ID.") var after: String?

        func run() async throws {
            guard (1...1000).contains(limit) else { throw CommandFailure.usage("--limit must be between 1 and 1000") }
            try await options.printAccounts { stores, scope in
                try await stores.accounts.list(after: after.map { AccountID($0) }, limit: limit, in: scope)
                    .map(\.account)
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one account.")
        @OptionGroup var options: Options
        @Argument(help: "The account ID.") var id: String

        func run() async throws {
            try await options.printAccounts { stores, scope in
                [try await stores.account(id, in: scope)]
            }
        }
    }

    struct Find: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find accounts by email, or by the user's ID at a provider.",
            usage: """
                identity users find --email ADDRESS
                identity users find --provider github.com --subject 583231
                """
        )
        @OptionGroup var options: Options
        @Option(help: "The account's email.") var email: String?
        @Option(help: "An identity provider; requires --subject.") var provider: String?
        @Option(help: "The user's ID at the provider.") var subject: String?

        func run() async throws {
            var selectors = AccountSelectors()
            switch (email, provider, subject) {
            case (let email?, nil, nil):
                guard let address = EmailAddress(email) else {
                    throw CommandFailure.usage("'\(email)' is not an email address")
                }
                selectors.emails = [address]
            case (nil, let provider?, let subject?): selectors.federated = [(ProviderID(provider), subject)]
            default: throw CommandFailure.usage("set either --email, or --provider and --subject")
            }
            let wanted = selectors
            try await options.printAccounts { stores, scope in try await stores.accounts.find(wanted, in: scope) }
        }
    }
}

extension Stores {
    /// The account that a command names; if it was merged, the survivor.
    func account(_ id: String, in scope: Scope) async throws -> Account {
        let named = AccountID(id)
        let survivor = try await accounts.survivors(of: [named], in: scope)[named]
        guard let found = try await accounts.find(survivor ?? named, session: nil, in: scope) else {
            throw CommandFailure.failed("account '\(id)' does not exist")
        }
        return found.account
    }
}

/// Accounts with their linked providers.
struct AccountTable {
    let accounts: [Account]

    init(_ accounts: [Account]) { self.accounts = accounts }

    func text(json: Bool) -> String {
        guard json else {
            return Table(
                ["ID", "EMAIL", "VERIFIED", "NAME", "PROVIDERS", "CREATED", "STATE"],
                accounts.map { account in
                    [
                        account.id.rawValue, account.email?.canonical ?? "", account.emailVerified ? "yes" : "no",
                        account.displayName ?? "", providers(account), account.createdAt.ISO8601Format(),
                        account.isDisabled ? "disabled" : "active",
                    ]
                }
            )
            .description
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let data = try? encoder.encode(accounts.map(AccountJSON.init))
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    private func providers(_ account: Account) -> String {
        let own = account.ownMethods.map(\.rawValue).sorted()
        return (account.linked.map { "\($0.provider):\($0.subject.onOneLine(spaces: 0))" } + own).joined(separator: " ")
    }
}

/// The members for programs, with the protocol's names.
private struct AccountJSON: Encodable {
    struct Provider: Encodable {
        var providerId: String
        var rawId: String
        var email: String?
        var displayName: String?
    }

    var localId: String
    var email: String?
    var emailVerified: Bool
    var displayName: String?
    var phoneNumber: String?
    var disabled: Bool
    var hasPassword: Bool
    var createdAt: String
    var lastLoginAt: String?
    var providerUserInfo: [Provider]

    init(_ account: Account) {
        localId = account.id.rawValue
        email = account.email?.canonical
        emailVerified = account.emailVerified
        displayName = account.displayName
        phoneNumber = account.phoneNumber
        disabled = account.isDisabled
        hasPassword = account.hasPassword
        createdAt = account.createdAt.ISO8601Format()
        lastLoginAt = account.lastSignInAt?.ISO8601Format()
        providerUserInfo = account.linked.map {
            Provider(providerId: $0.provider.rawValue, rawId: $0.subject, email: $0.email, displayName: $0.displayName)
        }
    }
}
