import Foundation
import IdentityClient

/// A reader's list of Feedly accounts: each has a session of its own.
public actor FeedlyAccounts {
    public static let id = "oauth.feedly"

    /// The signed-in accounts, in the order in which they were added.
    public private(set) var accounts: [User] = []
    private var sessions: [Auth] = []
    private let makeAuth: @Sendable (_ slot: Int) throws(AuthError) -> Auth

    /// Restores the accounts, without a request.
    ///
    /// - Parameter makeAuth: makes the client of one account, with a store of its own: in an app,
    ///   `KeychainSessionStorage(service: "com.example.reader.\(slot)")`.
    public init(slots: Int = 5, makeAuth: @escaping @Sendable (_ slot: Int) throws(AuthError) -> Auth) throws(AuthError)
    {
        self.makeAuth = makeAuth
        for slot in 0..<slots { sessions.append(try makeAuth(slot)) }
        accounts = sessions.compactMap(\.currentUser)
    }

    /// Signs in at Feedly, and adds the account to the list.
    public func add(using browser: some WebAuthenticator) async throws(AuthError) -> AuthDataResult {
        guard let auth = sessions.first(where: { $0.currentUser == nil }) else {
            throw .invalidArgument("all slots are in use")
        }
        var feedly = OAuthProvider(providerID: Self.id)
        feedly.returnsRefreshToken = true
        let result = try await auth.signIn(with: feedly, using: browser)
        accounts = sessions.compactMap(\.currentUser)
        return result
    }

    /// Returns an access token for Feedly's API: `Authorization: OAuth TOKEN`.
    ///
    /// The service renews it with the refresh token, which it keeps.
    public func accessToken(of account: User) async throws(AuthError) -> ProviderToken {
        try await account.providerToken(for: Self.id)
    }

    /// Signs an account out, and removes it from the list.
    public func remove(_ account: User) async throws(AuthError) {
        for auth in sessions where auth.currentUser?.uid == account.uid { try await auth.signOut() }
        accounts = sessions.compactMap(\.currentUser)
    }
}
