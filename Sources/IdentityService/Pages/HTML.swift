import Text

/// HTML text whose interpolated values are escaped.
///
///     let html: HTML = "<p title=\"\(name)\">\(text)</p>"
///
/// `\(html:)` inserts other HTML text, `\(json:)` inserts the text of a JSON value into a data block (`<script
/// type="application/json">`), which it cannot end.
package struct HTML: ExpressibleByStringInterpolation, Sendable, Hashable {
    package private(set) var text: String

    package init(stringLiteral value: StaticString) { text = value.description }

    package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    private init(text: String) { self.text = text }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        /// For the text of an element, and for an attribute's value in quotation marks of either kind.
        package mutating func appendInterpolation(_ value: String) { text += value.escaped(.html) }

        package mutating func appendInterpolation(html: HTML?) { text += html?.text ?? "" }

        package mutating func appendInterpolation(html: [HTML]) {
            for part in html { text += part.text }
        }

        package mutating func appendInterpolation(json: String) { text += json.escaped(.jsonInHTML) }
    }
}
