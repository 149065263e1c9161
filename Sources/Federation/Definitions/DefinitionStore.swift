import Projects
import Synchronization

/// Definitions that were built from configurations, so that a sign-in need not parse `definition{}` again.
final class DefinitionStore: Sendable {
    private static let capacity = 256

    private let allowsLoopback: Bool
    private let made = Mutex<[Key: Result<ProviderDefinition, InvalidDefinition>]>([:])

    private struct Key: Hashable {
        var configuration: ProviderConfiguration
        var variables: [String: String]
    }

    init(allowsLoopback: Bool) { self.allowsLoopback = allowsLoopback }

    /// - Parameter variables: the app's values for the definition's ``ProviderDefinition/variableParameters``.
    func definition(
        for configuration: ProviderConfiguration,
        choosing variables: [String: String] = [:]
    ) throws(InvalidDefinition) -> ProviderDefinition {
        let key = Key(configuration: configuration, variables: variables)
        if let known = made.withLock({ $0[key] }) { return try known.get() }
        let result: Result<ProviderDefinition, InvalidDefinition>
        do throws(InvalidDefinition) {
            result = .success(
                try ProviderDefinition.make(for: configuration, choosing: variables, allowsLoopback: allowsLoopback)
            )
        } catch {
            result = .failure(error)
        }
        made.withLock { made in
            // A changed configuration has another key, so unused entries are dropped together with the others.
            if made.count >= Self.capacity { made.removeAll() }
            made[key] = result
        }
        return try result.get()
    }
}
