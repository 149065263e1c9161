/// The ID of an account, `localId` on the wire: 1 to 128 characters; generated IDs have 28 of `[A-Za-z0-9]`.
package struct AccountID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }
}
