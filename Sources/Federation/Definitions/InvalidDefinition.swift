/// What is wrong with a provider's configuration, in words for the admin who wrote it.
package struct InvalidDefinition: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where it is, such as `clientId` or `definition.endpoints.token`.
    package let member: String
    /// What is wrong there, such as `must be an https URL`.
    package let problem: String

    static let unknownMember = "is unknown"

    package init(member: String, problem: String) {
        self.member = member
        self.problem = problem
    }

    package var description: String { "\(member) \(problem)" }
}
