import Projects
import Sessions
import Storage

extension AccountsService {
    /// The registered key that signed an assertion, if its service account has the scope.
    ///
    /// Some SDKs name the key; for the others, all keys of the account are tried.
    func signer(
        of assertion: ServiceAccountAssertion,
        for scope: AdminScope?
    ) async throws(AssertionError) -> ServiceAccountKey {
        let found = await configuration.findingNew(from: nil) { () -> [ServiceAccountKey]? in
            let keys = configuration.snapshot.serviceAccountKeys(of: assertion.issuer).filter { key in
                key.credential.isCurrent(now: seconds) && scope.map { key.scopes.contains($0) } ?? true
                    && assertion.keyID ?? key.id == key.id
            }
            return keys.isEmpty ? nil : keys
        }
        guard let keys = found else { throw .unknownSigner }
        let signer = keys.first { key in
            publicKeys.key(key.publicKey).map { assertion.isSigned(by: $0) } ?? false
        }
        guard let signer else { throw .badSignature }
        return signer
    }
}
