import ArgumentParser
import Domain
import Foundation
import Projects
import Storage

extension UsersCommand {
    struct Query: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List or count the accounts that match all conditions.",
            usage: """
                identity users query --method google.com --email-domain example.com
                identity users query --unused-since 2026-01-01 --count
                """
        )
        @OptionGroup var options: Options
        @Option(help: "A sign-in method: an identity provider, password, phone or emailLink.") var method: String?
        @Option(help: "The domain of the account's email.") var emailDomain: String?
        @Option(help: "Not used since this date: 2026-01-31, or with a time 2026-01-31T12:00:00Z.")
        var unusedSince: String?
        @Option(help: "Used since this date.") var usedSince: String?
        @Flag(inversion: .prefixedNo, help: "Accounts that are disabled.") var disabled: Bool?
        @Flag(inversion: .prefixedNo, help: "Accounts with a detached credential.") var detached: Bool?
        @Flag(inversion: .prefixedNo, help: "Accounts with a provider's relay email.") var relay: Bool?
        @Flag(inversion: .prefixedNo, help: "Accounts whose user revoked the grant at a provider.") var revoked: Bool?
        @Flag(inversion: .prefixedNo, help: "Accounts that a provider blocked.") var blocked: Bool?
        @Flag(inversion: .prefixedNo, help: "Accounts with a session.") var signedIn: Bool?
        @Option(help: "The sort order: id, created or email.") var sort = Sort.id
        @Flag(help: "Sort in descending order.") var descending = false
        @Option(help: "The maximum number, at least 1.") var limit = 100
        @Flag(help: "Print only the number of accounts.") var count = false

        enum Sort: String, ExpressibleByArgument, CaseIterable {
            case id
            case created
            case email
        }

        func run() async throws {
            guard limit > 0 else { throw CommandFailure.usage("--limit must be at least 1") }
            let query = try query()
            if count {
                return try await options.target.withProject { stores, project in
                    print(try await stores.accounts.count(query, in: project.scope))
                }
            }
            try await options.printAccounts { stores, scope in
                var accounts: [Account] = []
                var position: AccountPosition?
                repeat {
                    let page = try await stores.accounts.page(
                        query,
                        after: position,
                        size: min(500, limit - accounts.count),
                        in: scope
                    )
                    accounts += page.accounts
                    position = page.next
                } while position != nil && accounts.count < limit
                return accounts
            }
        }

        private func query() throws -> AccountQuery {
            var query = AccountQuery()
            query.method = method.map { ProviderID($0) }
            query.emailDomain = try emailDomain.map { text in
                guard let domain = EmailAddress("x@\(text)")?.domain else {
                    throw CommandFailure.usage("'\(text)' is not a domain")
                }
                return domain
            }
            query.lastUsedBefore = try unusedSince.map(Date.init(argument:))
            query.lastUsedAfter = try usedSince.map(Date.init(argument:))
            query.isDisabled = disabled
            query.hasDetachedCredential = detached
            query.hasRelayAddress = relay
            query.hasRevokedConsent = revoked
            query.isBlockedAtProvider = blocked
            query.hasSession = signedIn
            query.sort =
                switch sort {
                case .id: .account
                case .created: .createdAt
                case .email: .email
                }
            query.descends = descending
            return query
        }
    }

    struct Providers: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an account's linked providers and their state."
        )
        @OptionGroup var options: Options
        @Argument(help: "The account ID.") var id: String

        func run() async throws {
            try await options.target.withProject { stores, project in
                let scope = project.scope
                let account = try await stores.account(id, in: scope).id
                let rows = try await stores.accounts.linkedProviders(of: account, in: scope).map { linked in
                    [
                        linked.provider.rawValue, linked.subject, linked.email ?? "",
                        linked.isRelayAddress ? "yes" : "no", linked.linkedAt.ISO8601Format(),
                        linked.lastUsedAt?.ISO8601Format() ?? "",
                        linked.blockedAt != nil ? "blocked" : linked.revokedAt != nil ? "revoked" : "active",
                    ]
                }
                let header = ["PROVIDER", "SUBJECT", "EMAIL", "RELAY", "LINKED", "USED", "STATE"]
                print(Table(header, rows).text(json: options.json))
            }
        }
    }
}
