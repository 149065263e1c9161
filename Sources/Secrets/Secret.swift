/// Text that must not reach a log; `reveal()` is the one way out, and easy to search for.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    package init(_ text: String) { self.text = text }

    package func reveal() -> String { text }

    package var isEmpty: Bool { text.isEmpty }
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
