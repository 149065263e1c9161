/// A problem with a provider's configuration, as text for the admin.
package struct InvalidDefinition: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member, such as `clientId` or `definition.endpoints.token`.
    package let member: String
    /// The problem, such as `must be an https URL`.
    package let problem: String

    static let unknownMember = "is unknown"

    package init(member: String, problem: String) {
        self.member = member
        self.problem = problem
    }

    package var description: String { "\(member) \(problem)" }
}
