import StrictJSON
import Synchronization

/// What we read of a provider's discovery document, with the results of its checks, so that a sign-in need not repeat
/// them.
final class LoadedDiscovery: Sendable {
    private static let capacity = 64
    /// Bytes of what is kept: a project's documents must not fill the memory (T-E11).
    private static let maximumSize = 32 * 1_024

    /// The configuration that determines the check; configurations of one provider may differ.
    private struct Key: Hashable {
        var issuer: String
        var endpoints: ProviderDefinition.Endpoints
        var endpointHosts: [String]
    }

    private let document: JSONObject
    private let allowsLoopback: Bool
    private let checked = Mutex<[Key: Result<DiscoveryDocument, InvalidDefinition>]>([:])

    /// Nil for a document whose members are too large.
    init?(_ document: JSONObject, allowsLoopback: Bool) {
        let read = document.members.compactMap { member -> JSONObject.Member? in
            guard DiscoveryDocument.members.contains(member.name) else { return nil }
            switch member.value {
            case .string, .bool: return member
            case .array(let elements):
                return .init(name: member.name, value: .array(elements.filter { $0.string != nil }))
            case .null, .number, .object: return nil
            }
        }
        let texts = read.flatMap { $0.value.array ?? [$0.value] }.compactMap(\.string)
        guard texts.reduce(0, { $0 + $1.utf8.count + 16 }) <= Self.maximumSize else { return nil }
        self.document = JSONObject(read)
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
