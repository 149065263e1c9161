package import Testing

/// An answer with a status of HTTP.
package protocol HasStatus: CustomStringConvertible {
    var status: Int { get }
}

extension HasStatus {
    /// A call, because each `#expect` takes the compiler as long as twenty of these.
    package func expectOK(sourceLocation: SourceLocation = #_sourceLocation) {
        if status != 200 { Issue.record("\(self)", sourceLocation: sourceLocation) }
    }
}

extension Reply: HasStatus {}
extension ServiceAnswer: HasStatus {}

extension PlainResponse: HasStatus {
    package var description: String { "\(status) \(text.prefix(600))" }
}

extension Visit: HasStatus {
    package var description: String { "\(status) \(url) \(text.prefix(600))" }
}
