import Domain
import Federation
import Projects
import Secrets

/// The row of a linked credential, for which its secrets are sealed.
struct LinkedCredentialPlace: Sendable {
    private let row: String

    init(_ scope: Scope, _ account: AccountID, _ provider: ProviderID) {
        row = "linked_credentials/\(scope.project)/\(account)/\(provider)"
    }

    var tokens: String { row + "/tokens" }
    var refreshToken: String { row + "/refresh_token" }
    var profile: String { row + "/profile" }
}

/// A provider's tokens, as stored in the columns `tokens` and `refresh_token`.
struct SealedTokens: Sendable {
    /// Everything except the refresh token; nil if there is no access token.
    var access: [UInt8]?
    var refresh: [UInt8]?
}

extension KeyRing {
    func seal(_ tokens: ProviderTokens?, for place: LinkedCredentialPlace) throws -> SealedTokens {
        guard var access = tokens else { return SealedTokens() }
        access.refreshToken = nil
        return SealedTokens(
            access: try access.accessToken == nil ? nil : seal(json: access, for: place.tokens),
            refresh: try tokens?.refreshToken.map { try seal(Array($0.utf8), for: place.refreshToken) }
        )
    }

    /// The token that revokes a grant: the refresh token, otherwise the access token; nil if neither is stored.
    func openRevocable(
        _ sealed: SealedTokens,
        for place: LinkedCredentialPlace
    ) throws -> (token: String, isRefreshToken: Bool)? {
        if let refresh = sealed.refresh { return (try openSecret(refresh, for: place.refreshToken).reveal(), true) }
        guard let access = sealed.access else { return nil }
        let tokens: ProviderTokens = try openJSON(access, for: place.tokens)
        return tokens.accessToken.map { ($0, false) }
    }

    /// Nil if there is no access token.
    func open(_ sealed: SealedTokens, for place: LinkedCredentialPlace) throws -> ProviderTokens? {
        guard let access = sealed.access else { return nil }
        var tokens: ProviderTokens = try openJSON(access, for: place.tokens)
        tokens.refreshToken = try sealed.refresh.map { try openSecret($0, for: place.refreshToken).reveal() }
        return tokens
    }
}
