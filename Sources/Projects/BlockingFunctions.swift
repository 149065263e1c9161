/// A project's own functions that are asked before an account is made and before somebody is signed in.
package struct BlockingFunctions: Sendable, Hashable, Codable {
    package enum Event: String, Sendable, Hashable, Codable, CaseIterable {
        case beforeCreate
        case beforeSignIn
    }

    private var urls: [String: String] = [:]
    /// What of a provider's tokens they are told.
    package var forwardsIDToken = false
    package var forwardsAccessToken = false
    package var forwardsRefreshToken = false

    package init() {}

    package var isEmpty: Bool { urls.isEmpty }

    /// Where the function for an event is; nil when nobody is asked.
    package subscript(event: Event) -> String? {
        get { urls[event.rawValue] }
        set { urls[event.rawValue] = newValue }
    }
}
