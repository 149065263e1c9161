package import Projects

/// The part of a provider's tokens that is stored with the linked credential, encrypted.
package enum TokenKeeping: Int, Sendable, Hashable, Comparable {
    case nothing
    /// The one token that revokes the grant, if a provider requires revocation.
    case revocable
    /// All, to return current ones.
    case all

    package static func < (left: TokenKeeping, right: TokenKeeping) -> Bool { left.rawValue < right.rawValue }

    /// The tokens to store; nil for none.
    ///
    /// Tokens that an app received itself are not stored: their lifetime is unknown.
    package func kept(of tokens: ProviderTokens) -> ProviderTokens? {
        guard tokens.issuedAt != nil else { return nil }
        switch self {
        case .nothing: return nil
        case .revocable:
            if let refreshToken = tokens.refreshToken { return ProviderTokens(refreshToken: refreshToken) }
            return tokens.accessToken.map { ProviderTokens(accessToken: $0) }
        case .all:
            guard tokens.accessToken != nil else { return nil }
            var kept = tokens
            kept.authorizationCode = nil
            return kept
        }
    }
}

extension ProviderDefinition {
    package var tokenKeeping: TokenKeeping {
        keepTokens ? .all : revocation?.duty == true ? .revocable : .nothing
    }
}

extension FederationService {
    /// What a configuration stores; an unreadable or missing one stores nothing.
    package func tokenKeeping(_ configuration: ProviderConfiguration?) -> TokenKeeping {
        guard let configuration else { return .nothing }
        return (try? definitions.definition(for: configuration))?.tokenKeeping ?? .nothing
    }
}
