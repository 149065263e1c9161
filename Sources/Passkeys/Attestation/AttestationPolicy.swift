import SystemCrypto
import X509

/// Which attestations a project accepts.
package struct AttestationPolicy: Sendable {
    /// A certificate of a manufacturer that the project trusts.
    package struct Root: Sendable {
        let certificate: Certificate

        /// Nil unless the bytes are an X.509 certificate in DER.
        package init?(der: [UInt8]) {
            guard let certificate = Certificate(der: der) else { return nil }
            self.certificate = certificate
        }

        /// Nil unless the text is one X.509 certificate in PEM.
        package init?(pem: String) {
            guard let certificate = Certificate(pem: pem) else { return nil }
            self.certificate = certificate
        }
    }

    package var accepted: Set<Attestation>
    package var roots: [Root]

    /// By default every passkey is accepted, as password managers send no attestation.
    package init(accepted: Set<Attestation> = Set(Attestation.allCases), roots: [Root] = []) {
        self.accepted = accepted
        self.roots = roots
    }
}
