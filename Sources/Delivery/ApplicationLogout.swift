/// A message to an application: a user's session with it has ended; its logout token is made when it is sent.
package struct ApplicationLogout: Sendable, Codable {
    /// The outbox's name for it.
    package static let kind = "application.logout"
    /// For clients that no admin chose, which delay no others.
    package static let kindOfStrangers = "application.logout.stranger"

    package var client: String
    package var account: String
    package var session: String

    package init(client: String, account: String, session: String) {
        self.client = client
        self.account = account
        self.session = session
    }
}
