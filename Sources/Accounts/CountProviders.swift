package import Domain
package import Projects
package import Storage
package import struct Foundation.Date

extension AccountsService {
    package var countProviders: CountProviders { CountProviders(stores: stores, development: options.development) }
}

/// Shows the effect of removing a sign-in method: how many accounts have it, and how many have no other.
package struct CountProviders: Sendable {
    let stores: Stores
    /// Whether providers work without a configuration, as in `identity dev`.
    let development: Bool

    package struct Row: Sendable, Hashable {
        package var provider: ProviderID
        package var isEnabled: Bool
        package var accounts: Int64 = 0
        /// Accounts that have no other enabled sign-in method.
        package var dependentAccounts: Int64 = 0
        /// The last sign-in with it, if a session records it.
        package var lastUsedAt: Date?
    }

    package init(stores: Stores, development: Bool) {
        self.stores = stores
        self.development = development
    }

    /// - Returns: a row for each method that is configured or that an account has, ordered by ID.
    package func callAsFunction(_ project: Project) async throws -> [Row] {
        let scope = project.scope
        let counts = try await stores.accounts.methodCounts(in: scope)
        return rows(counts, lastUses: try await stores.accounts.lastUses(in: scope), project)
    }

    /// The same without the last uses: reads all accounts, but no session.
    package func accounts(_ project: Project) async throws -> [Row] {
        rows(try await stores.accounts.methodCounts(in: project.scope), project)
    }

    /// The number of accounts that can be counted for every page.
    package static let fewAccounts = 10_000

    /// ``accounts(_:_:)``, unless there are more than ``fewAccounts``.
    package func ifFew(_ project: Project) async throws -> [Row]? {
        let scope = project.scope
        let counts = try await stores.accounts.methodCounts(in: scope, ofAtMost: Self.fewAccounts)
        return counts.map { rows($0, project) }
    }

    private func rows(
        _ counts: [MethodCount],
        lastUses uses: [ProviderID: Date] = [:],
        _ project: Project
    ) -> [Row] {
        let snapshot = stores.configuration.snapshot
        let configured = Set(snapshot.providers(in: project.scope).map(\.provider))
        let held = counts.reduce(into: Set<ProviderID>()) { $0.formUnion($1.methods) }
        let usable = snapshot.usableMethods(of: project, unconfigured: development ? held : [])
        return configured.union(usable).union(held).sorted { $0.rawValue < $1.rawValue }.map { provider in
            var row = Row(provider: provider, isEnabled: usable.contains(provider), lastUsedAt: uses[provider])
            for count in counts where count.methods.contains(provider) {
                row.accounts += count.accounts
                let keepsAWay = SignInMethods.mayRemove(
                    [provider],
                    from: count.waysIn,
                    usable: usable,
                    emailRecovers: false
                )
                if !keepsAWay { row.dependentAccounts += count.accounts }
            }
            return row
        }
    }
}

extension MethodCount {
    fileprivate var waysIn: Set<ProviderID> { hasEmail ? methods : methods.subtracting([.password, .emailLink]) }
}
