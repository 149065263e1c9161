import StrictJSON
import Synchronization

/// A provider's discovery document as loaded, with the results of its checks, so that a sign-in need not repeat them.
final class LoadedDiscovery: Sendable {
    private static let capacity = 64

    /// The configuration that determines the check; configurations of one provider may differ.
    private struct Key: Hashable {
        var issuer: String
        var endpoints: ProviderDefinition.Endpoints
        var endpointHosts: [String]
    }

    private let document: JSONObject
    private let allowsLoopback: Bool
    private let checked = Mutex<[Key: Result<DiscoveryDocument, InvalidDefinition>]>([:])

    init(_ document: JSONObject, allowsLoopback: Bool) {
        self.document = document
        self.allowsLoopback = allowsLoopback
    }

    /// - Throws: ``InvalidDefinition`` if the issuer differs, or an endpoint is not allowed.
    func checked(for definition: ProviderDefinition, issuer: String) throws(InvalidDefinition) -> DiscoveryDocument {
        let key = Key(issuer: issuer, endpoints: definition.endpoints, endpointHosts: definition.endpointHosts)
        if let known = checked.withLock({ $0[key] }) { return try known.get() }
        let result: Result<DiscoveryDocument, InvalidDefinition>
        do throws(InvalidDefinition) {
            result = .success(
                try DiscoveryDocument(document, definition: definition, issuer: issuer, allowsLoopback: allowsLoopback)
            )
        } catch {
            result = .failure(error)
        }
        checked.withLock { checked in
            if checked.count >= Self.capacity { checked.removeAll() }
            checked[key] = result
        }
        return try result.get()
    }
}
