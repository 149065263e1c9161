package import struct Foundation.Date

/// What a person does at the authorization endpoint, decided before the browser gets there.
package struct ScriptedLogin: Sendable {
    package var user: TestUser
    package var decision: Decision
    /// Changes of the ID token that the code of this login is exchanged for.
    package var idToken: IDTokenChanges
    /// Changes of the ID token that comes beside the code.
    package var frontIDToken: IDTokenChanges
    package var callback: CallbackChanges
    /// Scopes that the person grants; nil for those asked for.
    package var grantedScopes: [String]?
    /// `auth_time`; nil for now.
    package var authenticatedAt: Date?

    package enum Decision: Sendable, Hashable {
        case approve
        /// Back with `error=access_denied`.
        case deny
        /// Back without code and without error, as Yahoo! JAPAN's `bail` does.
        case bail
        /// Stays at the provider: nothing comes back.
        case denyWithoutReturn
        /// Leaves the page open.
        case never
        case loginRequired
        case consentRequired
        /// Back with another error.
        case fail(error: String, description: String?)
    }

    /// How the parameters of the callback differ from the correct ones.
    package struct CallbackChanges: Sendable {
        package var set: [String: String]
        package var remove: Set<String>
        /// Appended as they are, repeated names included.
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
