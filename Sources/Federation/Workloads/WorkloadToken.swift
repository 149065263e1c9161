import Projects
package import Secrets
import StrictJSON

/// A workload's token, parsed; ``FederationService/verify(_:of:)`` verifies it.
package struct WorkloadToken: Sendable {
    /// The maximum of `exp` - `iat` in seconds: platforms' tokens are valid for minutes or hours.
    package static let maximumLifetime: Int64 = 86_400

    /// The issuer that it claims to be from.
    package let issuer: String
    /// SHA-256 of what was signed, which identifies the token.
    ///
    /// Not of the signature: of an ECDSA signature anybody can make a second valid one.
    package let hash: [UInt8]
    let token: CompactJWT

    package init(_ text: Secret) throws(WorkloadTokenError) {
        do throws(FederationError) { token = try CompactJWT(text.reveal()) } catch { throw .unverified(error) }
        // Only logout tokens and security events have it (T-C10).
        guard token.claims["events"] == nil else { throw .malformed }
        guard let issuer = token.claims["iss"]?.string else { throw .issuer }
        self.issuer = issuer
        hash = SecureHash.sha256(token.signedBytes)
    }

    /// Seconds since 1970 from which nobody accepts it any more; only after ``check(for:now:)``.
    package var endsAt: Int64 { (token.claims["exp"]?.numericDate ?? 0) + IDTokenExpectation.skew }

    /// Checks everything except the signature.
    ///
    /// - Parameter now: seconds since 1970.
    func check(for workload: Workload, now: Int64) throws(WorkloadTokenError) {
        guard SafeText.isOne(issuer, of: [workload.issuer]) else { throw .issuer }
        let audiences: [JSONValue]
        switch token.claims["aud"] {
        case .string(let text): audiences = [.string(text)]
        case .array(let values): audiences = values
        default: throw .audience
        }
        guard audiences.contains(where: { $0.string.map { SafeText.isOne($0, of: [workload.audience]) } ?? false })
        else { throw .audience }
        for (name, value) in workload.claims {
            guard let got = token.claims[name]?.string, SafeText.isOne(got, of: [value]) else { throw .claims }
        }
        guard !workload.claims.isEmpty else { throw .claims }
        try checkTimes(now: now)
    }

    private func checkTimes(now: Int64) throws(WorkloadTokenError) {
        let skew = IDTokenExpectation.skew
        guard let issued = token.claims["iat"]?.numericDate, let expires = token.claims["exp"]?.numericDate,
            expires - issued <= Self.maximumLifetime, issued <= now + skew, now < expires + skew
        else { throw .times }
        guard let start = token.claims["nbf"] else { return }
        guard let start = start.numericDate, start <= now + skew else { throw .times }
    }
}

/// Why a workload's token was refused; for the log, because a caller must not learn it.
package enum WorkloadTokenError: Error, Sendable, Hashable {
    case malformed, issuer, audience, claims, times
    /// Its form, its signature, or the issuer's keys.
    case unverified(FederationError)
}

extension WorkloadTokenError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed: "workload.malformed"
        case .issuer: "workload.issuer"
        case .audience: "workload.audience"
        case .claims: "workload.claims"
        case .times: "workload.times"
        case .unverified(let error): error.description
        }
    }
}
