package import struct Foundation.Date

/// A user's actions at the authorization endpoint, decided before the browser gets there.
package struct ScriptedLogin: Sendable {
    package var user: TestUser
    package var decision: Decision
    /// Changes of the ID token that this login's code is exchanged for.
    package var idToken: IDTokenChanges
    /// Changes of the ID token that is returned next to the code.
    package var frontIDToken: IDTokenChanges
    package var callback: CallbackChanges
    /// Scopes that the user grants; nil for all requested.
    package var grantedScopes: [String]?
    /// `auth_time`; nil for now.
    package var authenticatedAt: Date?

    package enum Decision: Sendable, Hashable {
        case approve
        /// Returns with `error=access_denied`.
        case deny
        /// Returns without code and without error, as Yahoo! JAPAN's `bail` does.
        case bail
        /// Stays at the provider: the user does not return.
        case denyWithoutReturn
        /// Leaves the page open.
        case never
        case loginRequired
        case consentRequired
        /// Returns with another error.
        case fail(error: String, description: String?)
    }

    /// Changes of the callback's parameters.
    package struct CallbackChanges: Sendable {
        package var set: [String: String]
        package var remove: Set<String>
        /// Appended unchanged, repeated names included.
        package var append: [(String, String)]

        package init(set: [String: String] = [:], remove: Set<String> = [], append: [(String, String)] = []) {
            self.set = set
            self.remove = remove
            self.append = append
        }

        package static let none = CallbackChanges()
    }

    package init(
        _ user: TestUser,
        _ decision: Decision = .approve,
        idToken: IDTokenChanges = .none,
        frontIDToken: IDTokenChanges = .none,
        callback: CallbackChanges = .none,
        grantedScopes: [String]? = nil,
        authenticatedAt: Date? = nil
    ) {
        self.user = user
        self.decision = decision
        self.idToken = idToken
        self.frontIDToken = frontIDToken
        self.callback = callback
        self.grantedScopes = grantedScopes
        self.authenticatedAt = authenticatedAt
    }
}
