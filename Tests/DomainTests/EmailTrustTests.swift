import Domain
import Testing

@Suite("When a provider's address counts as proven")
struct EmailTrustTests {
    struct Claim: Sendable, CustomTestStringConvertible {
        var name: String
        var trust: EmailTrust
        var email: String? = "ada@example.com"
        var verified = false
        var authority = false
        var proven: Bool
        var testDescription: String { name }
    }

    static let claims: [Claim] = [
        Claim(name: "always, without a claim", trust: .always, proven: true),
        Claim(name: "always, without an address", trust: .always, email: nil, verified: true, proven: false),
        Claim(name: "never, with a claim", trust: .never, verified: true, authority: true, proven: false),
        Claim(name: "claim made", trust: .claim, verified: true, proven: true),
        Claim(name: "claim not made", trust: .claim, proven: false),
        Claim(name: "authority alone is no claim", trust: .claim, authority: true, proven: false),
        Claim(name: "claim without an address", trust: .claim, email: nil, verified: true, proven: false),
        Claim(
            name: "own domain, claimed",
            trust: .domains(["example.com"], orAuthority: false),
            verified: true,
            proven: true
        ),
        Claim(name: "own domain, not claimed", trust: .domains(["example.com"], orAuthority: false), proven: false),
        Claim(
            name: "foreign domain",
            trust: .domains(["gmail.com"], orAuthority: false),
            verified: true,
            proven: false
        ),
        Claim(
            name: "a domain that only ends like its own",
            trust: .domains(["example.com"], orAuthority: false),
            email: "ada@evil-example.com",
            verified: true,
            proven: false
        ),
        Claim(
            name: "a subdomain is another domain",
            trust: .domains(["example.com"], orAuthority: false),
            email: "ada@mail.example.com",
            verified: true,
            proven: false
        ),
        Claim(
            name: "the domain in capitals",
            trust: .domains(["example.com"], orAuthority: false),
            email: "Ada@EXAMPLE.COM",
            verified: true,
            proven: true
        ),
        Claim(
            name: "foreign domain with authority",
            trust: .domains(["gmail.com"], orAuthority: true),
            verified: true,
            authority: true,
            proven: true
        ),
        Claim(
            name: "authority without a claim",
            trust: .domains(["gmail.com"], orAuthority: true),
            authority: true,
            proven: false
        ),
        Claim(
            name: "authority where it does not count",
            trust: .domains(["gmail.com"], orAuthority: false),
            verified: true,
            authority: true,
            proven: false
        ),
    ]

    @Test("every rule", arguments: claims)
    func proves(claim: Claim) throws {
        let email = try claim.email.map { try #require(EmailAddress($0)) }
        let identity = FederatedIdentity(
            provider: Samples.provider,
            subject: Samples.subject,
            issuer: "https://acme.example",
            email: email,
            emailVerifiedClaim: claim.verified,
            emailAuthorityClaim: claim.authority
        )
        #expect(claim.trust.proves(identity) == claim.proven)
    }

    @Test(
        "T-C17: no rule proves an address that the provider calls unverified",
        arguments: [
            .always, .never, .claim, .domains(["example.com"], orAuthority: false),
            .domains(["example.com"], orAuthority: true),
        ] as [EmailTrust]
    )
    func denied(trust: EmailTrust) {
        var identity = FederatedIdentity(
            provider: Samples.provider,
            subject: Samples.subject,
            issuer: "https://acme.example",
            email: EmailAddress("ada@example.com"),
            emailVerifiedClaim: true,
            emailUnverifiedClaim: true,
            emailAuthorityClaim: true
        )
        #expect(!trust.proves(identity))
        identity.emailUnverifiedClaim = nil
        #expect(trust.proves(identity) == (trust != .never))
    }
}
