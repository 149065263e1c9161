/// Changes of named fields, which apply to what the value is when they are written.
///
/// A field without a change stays.
package struct Patch<Value>: Sendable {
    private var changes: [@Sendable (inout Value) throws -> Void] = []

    package init() {}

    package mutating func set<Field: Sendable>(
        _ field: any WritableKeyPath<Value, Field> & Sendable,
        to new: Field
    ) {
        changes.append { $0[keyPath: field] = new }
    }

    /// A change that depends on the value.
    package mutating func change(_ change: @escaping @Sendable (inout Value) throws -> Void) { changes.append(change) }

    func apply(to value: inout Value) throws {
        for change in changes { try change(&value) }
    }
}
