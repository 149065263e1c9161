/// A stacked bar chart by day, with the same numbers as a table.
struct ConsoleChart {
    /// The ID of the heading.
    var id: String
    var title: String
    /// Since 1970, in UTC.
    var days: [Int64]
    /// A name, and a count for each day; the first series is at the bottom.
    var series: [(name: String, counts: [Int64])]

    /// The number of series with their own color; the others are combined.
    private static let colors = 6
    private static let (width, height, gap) = (700, 160, 6)

    var html: HTML {
        let parts = shownSeries
        let most = max(1, days.indices.map { day in parts.reduce(0) { $0 + $1.counts[day] } }.max() ?? 0)
        let sum = parts.reduce(0) { $0 + $1.counts.reduce(0, +) }
        let step = Self.width / max(1, days.count)
        var bars: [HTML] = []
        for day in days.indices {
            var top = Self.height
            for (number, part) in parts.enumerated() where part.counts[day] > 0 {
                // At least one line, so that small counts stay visible.
                let tall = max(2, Int(Double(part.counts[day]) / Double(most) * Double(Self.height - 20)))
                top -= tall
                bars.append(
                    """
                    <rect class="part\(String(number))" x="\(String(day * step))" y="\(String(max(0, top)))" \
                    width="\(String(step - Self.gap))" height="\(String(tall))"/>

                    """
                )
            }
        }
        let legend = parts.enumerated().map { number, part -> HTML in
            let total = part.counts.reduce(0, +)
            return "<li><span class=\"key\(String(number))\"></span>\(part.name): \(String(total))</li>\n"
        }
        let label = "\(title): \(sum) in \(days.count) days, \(most) on the busiest day"
        let summary = "Show daily numbers"
        return """
            <section aria-labelledby="\(id)">
            <h2 id="\(id)">\(title)</h2>
            <svg class="chart" role="img" aria-label="\(label)" viewBox="0 0 \(String(Self.width)) \(String(Self.height))">
            \(html: bars)<line class="ground" x1="0" y1="\(String(Self.height))" x2="\(String(Self.width))" y2="\(String(Self.height))"/>
            </svg>
            <p class="quiet days"><span>\(Self.name(of: days.first))</span> <span>\(Self.name(of: days.last))</span></p>
            <ul class="legend">
            \(html: legend)</ul>
            <details><summary>\(summary)</summary>
            \(html: table(parts))
            </details>
            </section>

            """
    }

    private var shownSeries: [(name: String, counts: [Int64])] {
        guard series.count > Self.colors else { return series }
        var shown = Array(series.prefix(Self.colors - 1))
        let rest = series.dropFirst(Self.colors - 1)
        shown.append(("Other", days.indices.map { day in rest.reduce(0) { $0 + $1.counts[day] } }))
        return shown
    }

    private func table(_ parts: [(name: String, counts: [Int64])]) -> HTML? {
        let rows = days.indices.reversed().map { day -> [HTML] in
            var row: [HTML] = ["\(Self.name(of: days[day]))"]
            row += parts.map { part -> HTML in "\(String(part.counts[day]))" }
            return row
        }
        return ConsoleText.table(title, ["Day (UTC)"] + parts.map(\.name), rows)
    }

    private static func name(of day: Int64?) -> String {
        day.map { String(UTCTime(seconds: $0 * 86_400).text.prefix(10)) } ?? ""
    }
}
