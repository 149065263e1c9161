/// Whose a hash is: hashes of one project, and those of one network, can take only a part of the places, so that they keep
/// out no one else's.
package struct HashShare: Sendable, Hashable {
    /// Nil for the service's own.
    package var project: String?
    /// Nil if unknown.
    package var network: String?

    package static let service = HashShare()

    /// Sign-ins of admins to the console, which no project has: its ID would not be empty.
    package static func console(network: String?) -> HashShare { HashShare(project: "", network: network) }

    package init(project: String? = nil, network: String? = nil) {
        self.project = project
        self.network = network
    }
}
