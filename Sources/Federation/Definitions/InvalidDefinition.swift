/// What is wrong with a provider's configuration, in words for the admin who wrote it.
package struct InvalidDefinition: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where: `clientId`, `definition.endpoints.token`, …
    package let member: String
    /// What: `must be an https URL`, `is unknown`, …
    package let problem: String

    package init(member: String, problem: String) {
        self.member = member
        self.problem = problem
    }

    package var description: String { "\(member) \(problem)" }
}
