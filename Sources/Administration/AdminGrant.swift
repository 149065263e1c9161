package import Projects
import struct Foundation.Date

/// What an admin credential of any kind allows, and for how long.
package struct AdminGrant: Sendable {
    package let scopes: Set<AdminScope>
    private let days: Int?

    /// - Parameters:
    ///   - scopes: empty for all.
    ///   - days: nil for no end.
    package init(scopes: Set<AdminScope>, days: Int?) throws(AdministrationError) {
        guard days ?? 1 > 0 else { throw .invalid("--days must be at least 1") }
        self.scopes = scopes.isEmpty ? Set(AdminScope.allCases) : scopes
        self.days = days
    }

    func end(from now: Date) -> Date? { days.map { now.addingTimeInterval(Double($0) * 86_400) } }
}
