import Text

/// A project's ID: `[a-z][a-z0-9-]{5,29}`.
package struct ProjectID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init?(rawValue: String) {
        guard (6...30).contains(rawValue.utf8.count), rawValue.prefix(1).consists(of: .lowercase),
            rawValue.consists(of: .lowercase + .digits + "-")
        else { return nil }
        self.rawValue = rawValue
    }

    package var description: String { rawValue }
}

/// A project's number: 12 digits, random, in refresh tokens and resource names.
package struct ProjectNumber: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package var description: String { String(rawValue) }
}

/// A tenant of a project; `none` (the empty text) for the project itself.
package struct TenantID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// By bytes, as PostgreSQL compares: to `String`, the Kelvin sign (U+212A) equals `K`.
    package static func == (one: Self, other: Self) -> Bool { one.rawValue.utf8.elementsEqual(other.rawValue.utf8) }

    /// The standard library's `!=` for `RawRepresentable` compares raw values.
    package static func != (one: Self, other: Self) -> Bool { !(one == other) }

    package static let none = TenantID(rawValue: "")
    package var description: String { rawValue }
}

/// A public API key: `AIza` and 35 characters of `[A-Za-z0-9_-]`.
///
/// It names a project and grants no access.
package struct APIKey: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Whether it has the form of those that the service makes.
    package var looksGenerated: Bool { rawValue.hasPrefix("AIza") && rawValue.utf8.count == 39 }

    package var description: String { rawValue }
}

/// The project or tenant that accounts belong to.
package struct Scope: Sendable, Hashable {
    package var project: ProjectID
    package var tenant: TenantID

    package init(project: ProjectID, tenant: TenantID = .none) {
        self.project = project
        self.tenant = tenant
    }
}
