/// The use cases, each a type in a file that also adds it here; they share one set of parts.
package struct AccountsService: Sendable {
    let parts: Parts

    package init(_ parts: Parts) { self.parts = parts }
}
