import StrictJSON

/// The usable keys of a JWK set (RFC 7517 §5); an unusable key does not affect the others.
struct ProviderKeySet: Sendable {
    let keys: [ProviderKey]

    /// Nil if the document is not a key set.
    init?(_ document: JSONValue) {
        guard let entries = document.object?["keys"]?.array else { return nil }
        keys = entries.prefix(1_000).compactMap(\.object).compactMap(ProviderKey.init)
    }

    /// Nil if the document does not have that format.
    init?(_ document: JSONValue, _ format: ProviderDefinition.IDTokenRules.KeyFormat) {
        if format == .jwks {
            self.init(document)
        } else {
            guard let entries = document.object?.members else { return nil }
            self.init(
                keys: entries.prefix(1_000).compactMap { entry in
                    guard let pem = entry.value.string else { return nil }
                    return ProviderKey(id: entry.name, pem: pem, acceptsCertificate: format == .certificateMap)
                }
            )
        }
    }

    private init(keys: [ProviderKey]) { self.keys = keys }

    /// The keys that may have made a signature: those with the header's `kid`, several only if the provider publishes
    /// the ID twice; without a `kid`, the only suitable key, if there is exactly one.
    func candidates(id: String?, algorithm: SignatureAlgorithm) -> [ProviderKey] {
        let fitting = keys.filter { $0.algorithms.contains(algorithm) }
        guard let id else { return fitting.count == 1 ? fitting : [] }
        return Array(fitting.filter { $0.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false }.prefix(4))
    }
}
