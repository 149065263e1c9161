/// Whose a hash is: hashes of one project, and those of one network, can take only a part of the places, so that they keep
/// out no one else's.
package struct HashShare: Sendable, Hashable {
    /// Nil for the service's own.
    package var project: String?
    /// Nil if unknown.
    package var network: String?

    package static let service = HashShare()

    package init(project: String? = nil, network: String? = nil) {
        self.project = project
        self.network = network
    }
}
