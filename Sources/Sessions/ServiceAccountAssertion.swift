import Secrets
import StrictJSON
package import SystemCrypto

/// A custom token as a back end's Admin SDK signed it (Firebase, "Create custom tokens"): a JWT of a service account.
///
/// It names its signer; whose keys may have signed it is for the caller to find, before anything of it counts.
package struct SignedCustomToken: Sendable {
    /// `aud` of every custom token.
    package static let audience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
    /// Seconds that a token may live.
    package static let lifetime: Int64 = 3600
    /// How far ahead of ours the back end's clock may be, in seconds.
    package static let clockSkew: Int64 = 60

    /// The service account that says to have signed it.
    package let issuer: String
    /// Some SDKs name the key, others leave it out.
    package let keyID: String?
    private let payload: JSONObject
    private let signature: [UInt8]
    private let signedBytes: [UInt8]

    /// - Throws: ``CustomTokenError/malformed``, ``CustomTokenError/wrongAlgorithm``.
    package init(_ text: String) throws(CustomTokenError) {
        let text = Array(text.utf8)
        guard text.count <= IDTokenVerifier.maximumLength else { throw .malformed }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap(JSONObject.init(ours:)),
            let payload = Base64URL.decode(parts[1]).flatMap(JSONObject.init(ours:)),
            let signature = Base64URL.decode(parts[2]), header["crit"] == nil, let name = header["alg"]?.string,
            let issuer = payload["iss"]?.string, payload["sub"]?.string == issuer
        else { throw .malformed }
        guard name == "RS256" else { throw .wrongAlgorithm }
        self.issuer = issuer
        self.keyID = header["kid"]?.string
        self.payload = payload
        self.signature = signature
        self.signedBytes = Array(text[..<parts[1].endIndex])
    }

    /// Whether the private half of this key signed it.
    package func isSigned(by publicKey: RSAPublicKey) -> Bool { publicKey.verifies(signature, of: signedBytes) }

    /// Checks audience and times, once the signature is known to be right.
    ///
    /// - Parameter now: seconds since 1970.
    package func checked(now: Int64) throws(CustomTokenError) -> CustomToken {
        guard payload["aud"]?.string == Self.audience else { throw .wrongAudience }
        guard let issuedAt = payload["iat"]?.integer, let expiresAt = payload["exp"]?.integer else { throw .malformed }
        guard issuedAt <= now + Self.clockSkew else { throw .issuedInFuture }
        let (life, overflow) = expiresAt.subtractingReportingOverflow(issuedAt)
        guard !overflow, life <= Self.lifetime else { throw .tooLong }
        guard now < expiresAt else { throw .expired }
        return CustomToken(payload)
    }
}
