/// Metrics in Prometheus's text format, version 0.0.4.
package struct MetricsText: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    package init() {}

    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package typealias Labels = KeyValuePairs<String, String>

    /// Starts a family; its samples follow.
    ///
    /// - Parameter name: in Prometheus's format, `identity_http_requests_in_flight`; counters end with `_total`.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    package mutating func sample(_ name: String, _ labels: Labels = [:], value: some Numeric) {
        let isNumber = (value as? Double)?.isNaN != true
        line(name, labels, isNumber ? "\(value)" : "NaN")
    }

    /// A family with one sample without labels.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String, value: some Numeric) {
        family(name, kind, help)
        sample(name, value: value)
    }

    /// The samples of a histogram: cumulative buckets, sum and count.
    package mutating func samples(_ name: String, _ labels: Labels = [:], _ histogram: Histogram) {
        var total: UInt64 = 0
        for (index, count) in histogram.counts.enumerated() {
            total += count
            let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
            line(name + "_bucket", labels, "\(total)", bound: bound)
        }
        sample(name + "_sum", labels, value: histogram.sum)
        sample(name + "_count", labels, value: total)
    }

    /// A histogram before its first value, so that Prometheus sees that one as an increase.
    package mutating func noSamples(_ name: String, _ labels: Labels) {
        line(name + "_bucket", labels, "0", bound: "+Inf")
        sample(name + "_sum", labels, value: 0.0)
        sample(name + "_count", labels, value: 0)
    }

    private mutating func line(_ name: String, _ labels: Labels, _ value: String, bound: String? = nil) {
        var pairs = labels.map { "\($0.key)=\"\(Self.escape($0.value))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        text += name + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}") + " \(value)\n"
    }

    private static func escape(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
