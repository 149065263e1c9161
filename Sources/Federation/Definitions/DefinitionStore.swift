import Projects
import Synchronization

/// Definitions as they were made from configurations, so that a sign-in need not read `definition{}` again.
final class DefinitionStore: Sendable {
    private static let capacity = 256

    private let allowsLoopback: Bool
    private let made = Mutex<[ProviderConfiguration: Result<ProviderDefinition, InvalidDefinition>]>([:])

    init(allowsLoopback: Bool) { self.allowsLoopback = allowsLoopback }

    func definition(for configuration: ProviderConfiguration) throws(InvalidDefinition) -> ProviderDefinition {
        if let known = made.withLock({ $0[configuration] }) { return try known.get() }
        let result: Result<ProviderDefinition, InvalidDefinition>
        do throws(InvalidDefinition) {
            result = .success(try ProviderDefinition.make(for: configuration, allowsLoopback: allowsLoopback))
        } catch {
            result = .failure(error)
        }
        made.withLock { made in
            // A changed configuration is another key: what is no longer used goes with the rest.
            if made.count >= Self.capacity { made.removeAll() }
            made[configuration] = result
        }
        return try result.get()
    }
}
