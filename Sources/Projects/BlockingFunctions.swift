/// A project's blocking functions, called before an account is created and before a user is signed in.
package struct BlockingFunctions: Sendable, Hashable, Codable {
    package enum Event: String, Sendable, Hashable, Codable, CaseIterable {
        case beforeCreate
        case beforeSignIn
    }

    private var urls: [String: String] = [:]
    private var audiences: [String: String] = [:]
    /// Which of the provider's tokens they receive.
    package var forwardsIDToken = false
    package var forwardsAccessToken = false
    package var forwardsRefreshToken = false

    package init() {}

    /// A member of a later release may be missing.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        urls = try values.decode([String: String].self, forKey: .urls)
        audiences = try values.decodeIfPresent([String: String].self, forKey: .audiences) ?? [:]
        forwardsIDToken = try values.decode(Bool.self, forKey: .forwardsIDToken)
        forwardsAccessToken = try values.decode(Bool.self, forKey: .forwardsAccessToken)
        forwardsRefreshToken = try values.decode(Bool.self, forKey: .forwardsRefreshToken)
    }

    /// What the JWT for an event names as its audience; nil for the function's URL.
    package subscript(audienceOf event: Event) -> String? {
        get { audiences[event.rawValue] }
        set { audiences[event.rawValue] = newValue }
    }

    package var isEmpty: Bool { urls.isEmpty }

    /// The URL of the function for an event; nil if there is none.
    package subscript(event: Event) -> String? {
        get { urls[event.rawValue] }
        set { urls[event.rawValue] = newValue }
    }
}
