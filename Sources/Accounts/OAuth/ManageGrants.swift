package import Domain
package import Foundation
package import OAuth
import Projects
import Storage

extension AccountsService { package var manageGrants: ManageGrants { ManageGrants(service: self) } }

/// What a user has granted applications, for the page on which the user withdraws it.
package struct ManageGrants: Sendable {
    let service: AccountsService

    /// The user of the browser, and what the browser keeps from now on.
    package struct Page: Sendable {
        package let account: Account
        package let applications: [Application]
        package let browser: AuthorizeApplication.Browser
    }

    package struct Application: Sendable {
        package let client: OAuthClient
        /// Of all its sessions, in the order in which they were granted.
        package let scopes: [String]
        package let resources: [String]
        package let since: Date
        package let lastUsedAt: Date
    }

    /// - Returns: nil if nobody is signed in.
    package func list(_ browser: AuthorizeApplication.Browser, _ caller: Caller) async throws -> Page? {
        guard let user = try await service.browserUser(browser.session, caller) else { return nil }
        return try await page(of: user, browser, caller)
    }

    /// Ends all sessions that an application has with the browser's user.
    ///
    /// - Returns: what is left; nil if nobody is signed in.
    package func withdraw(
        from client: String?,
        _ browser: AuthorizeApplication.Browser,
        _ caller: Caller
    ) async throws -> Page? {
        guard let user = try await service.browserUser(browser.session, caller) else { return nil }
        if let client {
            let ended = try await service.sessions.revoke(
                .application(client),
                of: user.account.id,
                by: user.session.id,
                in: caller.scope,
                now: service.now()
            )
            guard ended != nil else { return nil }
        }
        return try await page(of: user, browser, caller)
    }

    private func page(
        of user: BrowserUser,
        _ browser: AuthorizeApplication.Browser,
        _ caller: Caller
    ) async throws -> Page {
        let granted = try await service.sessions.grants(
            of: user.account.id,
            idleSince: caller.project.settings.sessionsIdle(at: service.now()),
            in: caller.scope,
            now: service.now()
        )
        var applications: [Application] = []
        for (id, sessions) in Dictionary(grouping: granted, by: \.client) {
            // The grants of an application that was removed ended with it.
            guard let client = try await service.stores.oauthClients.client(id, of: caller.project.id) else { continue }
            applications.append(Application(client, sessions))
        }
        return Page(
            account: user.account,
            applications: applications.sorted { ($0.lastUsedAt, $0.client.id) > ($1.lastUsedAt, $1.client.id) },
            browser: AuthorizeApplication.Browser(secret: browser.secret, session: user.cookie)
        )
    }
}

extension ManageGrants.Application {
    /// - Parameter sessions: one or more.
    fileprivate init(_ client: OAuthClient, _ sessions: [GrantedSession]) {
        func merged(_ lists: [[String]]) -> [String] {
            var seen: Set<String> = []
            return lists.joined().filter { seen.insert($0).inserted }
        }
        self.client = client
        scopes = merged(sessions.map(\.grant.scopes))
        resources = merged(sessions.map(\.grant.resources))
        since = sessions.map(\.createdAt).min() ?? .distantPast
        lastUsedAt = sessions.map(\.lastUsedAt).max() ?? .distantPast
    }
}
