extension JSONValue {
    /// A NumericDate (RFC 7519 §2) in whole seconds, between the years 1970 and 9999; nil for text.
    package var numericDate: Int64? {
        guard case .number(let text) = self, let value = Double(text), value >= 0, value < 253_402_300_800 else {
            return nil
        }
        return Int64(value)
    }
}
