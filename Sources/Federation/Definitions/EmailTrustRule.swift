package import Domain

/// ``Domain/EmailTrust`` in the format of a configuration.
package enum EmailTrustRule: Sendable, Hashable, Codable {
    case always, never, claim
    case domains(Set<String>, orAuthority: Bool)

    package var value: EmailTrust {
        switch self {
        case .always: .always
        case .never: .never
        case .claim: .claim
        case .domains(let domains, let orAuthority): .domains(domains, orAuthority: orAuthority)
        }
    }

    /// The default rule of a provider.
    ///
    /// - Parameter strict: the stricter table: an address counts only if the provider is the authority for it.
    package static func standard(for id: ProviderID, strict: Bool) -> EmailTrustRule {
        switch id.rawValue {
        case "apple.com": .always
        case "google.com": strict ? .domains(["gmail.com", "googlemail.com"], orAuthority: true) : .claim
        case "yahoo.com": .domains(yahooDomains, orAuthority: false)
        case "oidc.yahoojp", "yahoo.co.jp": .domains(["yahoo.co.jp", "ybb.ne.jp"], orAuthority: false)
        case "microsoft.com":
            strict
                ? .domains([], orAuthority: true)
                : .domains(["outlook.com", "hotmail.com", "live.com"], orAuthority: false)
        case "facebook.com", "twitter.com", "github.com", "linkedin.com": .never
        default:
            if id.rawValue.hasPrefix("saml.") {
                .always
            } else {
                id.isOIDC && !strict ? .claim : .never
            }
        }
    }

    /// Domains of Yahoo's own mailboxes.
    private static let yahooDomains: Set<String> = [
        "yahoo.com", "ymail.com", "rocketmail.com", "myyahoo.com", "yahoo.ca", "yahoo.co.id", "yahoo.co.in",
        "yahoo.co.nz", "yahoo.co.th", "yahoo.co.uk", "yahoo.co.za", "yahoo.com.ar", "yahoo.com.au", "yahoo.com.br",
        "yahoo.com.co", "yahoo.com.hk", "yahoo.com.mx", "yahoo.com.my", "yahoo.com.ph", "yahoo.com.sg", "yahoo.com.tr",
        "yahoo.com.tw", "yahoo.com.vn", "yahoo.de", "yahoo.dk", "yahoo.es", "yahoo.fi", "yahoo.fr", "yahoo.gr",
        "yahoo.ie", "yahoo.in", "yahoo.it", "yahoo.nl", "yahoo.no", "yahoo.pl", "yahoo.ro", "yahoo.se",
    ]
}
