/// A project's blocking functions, called before an account is created and before a user is signed in.
package struct BlockingFunctions: Sendable, Hashable, Codable {
    package enum Event: String, Sendable, Hashable, Codable, CaseIterable {
        case beforeCreate
        case beforeSignIn
    }

    private var urls: [String: String] = [:]
    /// Which of the provider's tokens they receive.
    package var forwardsIDToken = false
    package var forwardsAccessToken = false
    package var forwardsRefreshToken = false

    package init() {}

    package var isEmpty: Bool { urls.isEmpty }

    /// The URL of the function for an event; nil if there is none.
    package subscript(event: Event) -> String? {
        get { urls[event.rawValue] }
        set { urls[event.rawValue] = newValue }
    }
}
