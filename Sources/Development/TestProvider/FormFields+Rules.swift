package import Text

extension FormFields {
    /// Names that occur more than once.
    package var repeatedNames: [String] {
        Dictionary(grouping: pairs, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
    }

    /// Separated words of a parameter, such as `scope`.
    package func words(_ name: String, separator: Character = " ") -> [String] {
        (self[name] ?? "").split(separator: separator).map(String.init)
    }
}
