package import Projects

/// What is kept of a provider's tokens with the linked credential, encrypted.
package enum TokenKeeping: Int, Sendable, Hashable, Comparable {
    case nothing
    /// The one token with which the grant is revoked, where a provider demands that.
    case revocable
    /// To hand them out fresh.
    case all

    package static func < (left: TokenKeeping, right: TokenKeeping) -> Bool { left.rawValue < right.rawValue }

    /// The part of the tokens to store; nil for none.
    ///
    /// Tokens that an app got by itself are not kept: nothing says how long they live.
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
    /// What a configuration keeps; one that cannot be read, or is not there, keeps nothing.
    package func tokenKeeping(_ configuration: ProviderConfiguration?) -> TokenKeeping {
        guard let configuration else { return .nothing }
        return (try? definitions.definition(for: configuration))?.tokenKeeping ?? .nothing
    }
}
