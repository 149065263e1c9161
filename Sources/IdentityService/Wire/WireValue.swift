/// A JSON value as it came, with numbers as the text they were written in.
package enum WireValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([WireValue])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: WireValue

        package init(name: String, value: WireValue) {
            self.name = name
            self.value = value
        }
    }

    package var isNull: Bool { self == .null }

    /// The value as JSON.
    package var jsonText: String {
        var json = JSONWriter()
        json.value(self)
        return json.text
    }
}
