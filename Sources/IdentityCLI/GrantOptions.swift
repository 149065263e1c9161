import Administration
import ArgumentParser
import Foundation
import Projects

/// What a new admin credential allows, and for how long.
struct GrantOptions: ParsableArguments {
    @Option(help: "Scopes: \(AdminScope.allCases.map(\.rawValue).joined(separator: ", ")). Default: all.")
    var scope: [AdminScope] = []
    @Option(help: "Days until it expires; default: never.") var days: Int?

    var grant: AdminGrant {
        get throws { try AdminGrant(scopes: Set(scope), days: days) }
    }

    func validate() throws {
        do { _ = try grant } catch AdministrationError.invalid(let text) { throw ValidationError(text) }
    }
}

extension AdminScope: ExpressibleByArgument {}

extension Set<AdminScope> {
    /// As in the columns of lists.
    var text: String { map(\.rawValue).sorted().joined(separator: ",") }
}

extension Int64 {
    /// Seconds since 1970, as in the columns of lists.
    var date: String { Date(timeIntervalSince1970: Double(self)).ISO8601Format() }
}
