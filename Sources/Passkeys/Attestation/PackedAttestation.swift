import SwiftASN1
import SystemCrypto
@_spi(FixedExpiryValidationTime) import X509
import struct Foundation.Date

/// The statement of the `packed` format (WebAuthn §8.2).
struct PackedAttestation {
    private let algorithm: COSEAlgorithm
    private let signature: [UInt8]
    /// The attestation certificate first, then those above it; empty for a self attestation.
    private let certificates: [Certificate]

    init(_ statement: CBOR) throws(PasskeyError) {
        guard let number = statement["alg"]?.integer, let signature = statement["sig"]?.bytes else {
            throw .malformedAttestationStatement
        }
        guard let algorithm = COSEAlgorithm(rawValue: number) else { throw .unsupportedAttestationAlgorithm }
        self.algorithm = algorithm
        self.signature = signature
        self.certificates = try statement["x5c"].map(Self.certificates) ?? []
    }

    private static func certificates(_ chain: CBOR) throws(PasskeyError) -> [Certificate] {
        // Nothing longer is built, so that a request cannot cost more than eight signatures (`leadsTo`).
        guard let chain = chain.array, (1...8).contains(chain.count) else { throw .malformedAttestationStatement }
        var certificates: [Certificate] = []
        for element in chain {
            guard let bytes = element.bytes, let certificate = Certificate(der: bytes) else {
                throw .malformedAttestationStatement
            }
            certificates.append(certificate)
        }
        return certificates
    }

    /// Verifies the statement, and then whether its certificates lead to one of the roots.
    ///
    /// - Parameters:
    ///   - hash: of the client data.
    ///   - now: epoch seconds, at which certificates must be valid.
    func verify(
        _ data: AuthenticatorData,
        of credential: AuthenticatorData.AttestedCredential,
        key: COSEKey,
        hash: [UInt8],
        roots: [AttestationPolicy.Root],
        now: Int64
    ) async throws(PasskeyError) -> Attestation {
        let message = data.bytes + hash
        guard let certificate = certificates.first else {
            guard algorithm == key.algorithm else { throw .malformedAttestationStatement }
            guard key.verifies(signature, of: message) else { throw .wrongAttestationSignature }
            return .selfSigned
        }
        guard let certificateKey = SignatureKey(certificate, algorithm), certificateKey.verifies(signature, of: message)
        else { throw .wrongAttestationSignature }
        guard certificate.isAttestationCertificate(for: credential.aaguid) else {
            throw .unacceptableAttestationCertificate
        }
        return await leadsTo(roots, at: now) ? .certified : .unverified
    }

    /// Validates the path (RFC 5280 §6), with every certificate's dates and critical extensions.
    ///
    /// Of several certificates with one subject, the verifier would try every order, thousands of signatures for eight that
    /// signed one another (threats.md, T-E37); a chain has none such (WebAuthn §6.5.4).
    private func leadsTo(_ roots: [AttestationPolicy.Root], at now: Int64) async -> Bool {
        let different = Set(certificates)
        guard let leaf = certificates.first, !roots.isEmpty, Set(different.map(\.subject)).count == different.count
        else {
            return false
        }
        let date = Date(timeIntervalSince1970: Double(now))
        var verifier = Verifier(rootCertificates: CertificateStore(roots.map(\.certificate))) {
            RFC5280Policy(fixedExpiryValidationTime: date)
        }
        let result = await verifier.validate(
            leaf: leaf,
            intermediates: CertificateStore(certificates.dropFirst())
        )
        switch result {
        case .validCertificate: return true
        case .couldNotValidate: return false
        }
    }
}

extension Certificate {
    /// `id-fido-gen-ce-aaguid`.
    private static let aaguidExtension: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 45724, 1, 1, 4]

    /// The requirements of WebAuthn §8.2.1.
    fileprivate func isAttestationCertificate(for aaguid: AAGUID) -> Bool {
        guard version == .v3, let constraints = try? extensions.basicConstraints,
            case .notCertificateAuthority = constraints,
            subjectText(.RDNAttributeType.countryName) != nil,
            subjectText(.RDNAttributeType.organizationName) != nil,
            subjectText(.RDNAttributeType.organizationalUnitName) == "Authenticator Attestation",
            subjectText(.RDNAttributeType.commonName) != nil
        else { return false }
        guard let named = extensions[oid: Self.aaguidExtension] else { return true }
        // The value is an OCTET STRING inside the extension's own.
        guard !named.critical, let value = try? ASN1OctetString(derEncoded: named.value) else { return false }
        return value.bytes.elementsEqual(aaguid.bytes)
    }

    private func subjectText(_ type: ASN1ObjectIdentifier) -> String? {
        subject.lazy.joined().first { $0.type == type }.flatMap { String($0.value) }
    }
}
