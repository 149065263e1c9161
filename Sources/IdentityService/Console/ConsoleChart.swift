import Text

/// A stacked bar chart by day: an axis, the numbers of each day on hover, and all numbers as a table.
///
/// Distances along the days are percentages, so that text keeps its size on every screen.
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
    /// Of the bars, in pixels; labels of days stand below.
    private static let (height, top, below) = (160, 12, 40)

    var html: HTML {
        let parts = shownSeries
        let sums = days.indices.map { day in parts.reduce(0) { $0 + $1.counts[day] } }
        let (most, sum) = (sums.max() ?? 0, sums.reduce(0, +))
        let scale = ConsoleScale(upTo: most)
        let bars = days.indices.map { bar($0, parts, sums[$0], scale) }
        let legend = parts.enumerated().map { number, part -> HTML in
            let total = part.counts.reduce(0, +)
            return
                "<li><span class=\"key\(String(number))\"></span>\(part.name): \(ConsoleText.number(total))</li>\n"
        }
        let label = "\(title): \(sum) in \(days.count) days, \(most) on the busiest day"
        let all = String(Self.top + Self.height + Self.below)
        let lines = scale.steps.map { line(at: $0, scale) }
        let names = scale.steps.map { step -> HTML in
            "<text x=\"40\" y=\"\(String(y(of: step, scale) + 4))\">\(ConsoleScale.short(step))</text>\n"
        }
        return """
            <section aria-labelledby="\(id)">
            <h2 id="\(id)">\(title)</h2>
            <div class="chart">
            <svg class="axis" aria-hidden="true" width="48" height="\(all)">
            \(html: names)</svg>
            <svg class="bars" role="img" aria-label="\(label)" width="100%" height="\(all)">
            \(html: lines)\(html: bars)</svg>
            </div>
            <ul class="legend">
            \(html: legend)</ul>
            <details><summary>Show daily numbers</summary>
            \(html: table(parts))
            </details>
            </section>

            """
    }

    /// From the upper edge, in pixels.
    private func y(of count: Int64, _ scale: ConsoleScale) -> Int {
        Self.top + Self.height - Int(Double(count) / Double(scale.end) * Double(Self.height))
    }

    private func line(at step: Int64, _ scale: ConsoleScale) -> HTML {
        let y = String(y(of: step, scale))
        let isGround: HTML? = step == 0 ? " class=\"ground\"" : nil
        return "<line\(html: isGround) x1=\"0\" y1=\"\(y)\" x2=\"100%\" y2=\"\(y)\"/>\n"
    }

    /// The bar of a day above its name; the pointer shows its numbers anywhere in its column.
    private func bar(
        _ day: Int,
        _ parts: [(name: String, counts: [Int64])],
        _ sum: Int64,
        _ scale: ConsoleScale
    ) -> HTML {
        let name = Self.name(of: days[day])
        let numbers = parts.filter { $0.counts[day] > 0 }.reversed()
            .map { "\n\($0.name): \(ConsoleText.number($0.counts[day]))" }
        var top = Self.top + Self.height
        var rectangles: [HTML] = []
        for (number, part) in parts.enumerated() where part.counts[day] > 0 {
            // At least one line, so that small counts stay visible.
            let tall = max(2, Int(Double(part.counts[day]) / Double(scale.end) * Double(Self.height)))
            top -= tall
            rectangles.append(
                """
                <rect class="part\(String(number))" x="\(share(day, 0.15))" y="\(String(max(0, top)))" \
                width="\(share(0, 0.7))" height="\(String(tall))"/>

                """
            )
        }
        let bottom = Self.top + Self.height
        // The month where one begins.
        let isNewMonth = day == 0 || name.dropFirst(5).prefix(2) != Self.name(of: days[day - 1]).dropFirst(5).prefix(2)
        let month: HTML? =
            isNewMonth
            ? "<text x=\"\(share(day, 0.5))\" y=\"\(String(bottom + 34))\">\(Self.month(of: name))</text>" : nil
        return """
            <g class="day"><title>\(name): \(ConsoleText.number(sum))\(numbers.joined())</title>
            <rect class="column" x="\(share(day, 0))" y="0" width="\(share(0, 1))" height="\(String(bottom))"/>
            \(html: rectangles)<text x="\(share(day, 0.5))" y="\(String(bottom + 17))">\(String(name.suffix(2)))</text>\
            \(html: month)</g>

            """
    }

    /// A place in the column of a day, as a percentage of all days.
    private func share(_ day: Int, _ part: Double) -> String {
        let hundredths = Int((Double(day) + part) * 10_000 / Double(max(1, days.count)))
        return "\(hundredths / 100).\(UTCTime.digits(hundredths % 100))%"
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
            row += parts.map { part -> HTML in "\(ConsoleText.number(part.counts[day]))" }
            return row
        }
        return ConsoleText.table(title, ["Day (UTC)"] + parts.map(\.name), rows)
    }

    /// `2026-01-31`.
    private static func name(of day: Int64) -> String { String(UTCTime(seconds: day * 86_400).text.prefix(10)) }

    private static func month(of day: String) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return Int(day.dropFirst(5).prefix(2)).map { months[$0 - 1] } ?? ""
    }
}

/// The axis of a chart: a few round numbers from 0 to at least the largest count.
struct ConsoleScale {
    let steps: [Int64]

    /// - Parameter most: at least 0.
    init(upTo most: Int64) {
        var unit: Int64 = 1
        var step = unit
        while step * 5 < most {
            for factor in [2, 5, 10] where step * 5 < most { step = unit * Int64(factor) }
            if step == unit * 10 { unit = step }
        }
        steps = (0...max(1, (most + step - 1) / step)).map { $0 * step }
    }

    var end: Int64 { steps.last ?? 1 }

    /// `20`, `1.5k`, `3M`.
    static func short(_ number: Int64) -> String {
        for (size, letter) in [(Int64(1_000_000), "M"), (1_000, "k")] where number >= size {
            let tenths = number * 10 / size
            return tenths % 10 == 0 ? "\(tenths / 10)\(letter)" : "\(tenths / 10).\(tenths % 10)\(letter)"
        }
        return String(number)
    }
}
