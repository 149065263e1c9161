extension QRCode {
    /// The code with its quiet zone, dark on light in dark mode, too, because readers expect it.
    ///
    /// - Parameter label: the accessible name.
    func svg(_ label: String) -> HTML {
        let side = size + 8
        let runs = (0..<size).flatMap { y in darkRuns(y).map { (x: $0.lowerBound, y: y, width: $0.count) } }
        let path = runs.map { "M\($0.x + 4) \($0.y + 4)h\($0.width)v1h-\($0.width)z" }.joined()
        return """
            <svg class="qr" role="img" aria-label="\(label)" viewBox="0 0 \(String(side)) \(String(side))">
            <rect class="light" width="100%" height="100%"/><path class="dark" d="\(path)"/></svg>
            """
    }

    private func darkRuns(_ y: Int) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for x in 0..<size where isDark(x, y) {
            if let last = runs.last, last.upperBound == x {
                runs[runs.count - 1] = last.lowerBound..<(x + 1)
            } else {
                runs.append(x..<(x + 1))
            }
        }
        return runs
    }
}
