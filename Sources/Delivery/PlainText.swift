/// The text of an email that a project wrote as HTML, for mail programs that show text (RFC 2046 §5.1.4).
///
/// A reader that goes on where a browser would: it reports no errors, and reads each byte once.
struct PlainText {
    private let html: [UInt8]
    private var position = 0
    private var text = ""
    /// Line breaks and a space to write before the next character: none at the start, and none at the end.
    private var breaks = 0
    private var hasSpace = false
    /// Before the first text of a list's item.
    private var marker = ""
    /// The numbers of the open lists' last items; nil for a list without numbers.
    private var lists: [Int?] = []
    private var link: (address: String, text: String)?

    /// Lines without mark-up, in which links have their addresses: `read this <https://example.com/>`.
    static func of(html: String) -> String {
        var reader = PlainText(html: Array(html.utf8))
        while reader.position < reader.html.count { reader.readPiece() }
        reader.endLink()
        return reader.text + "\n"
    }

    private init(html: [UInt8]) { self.html = html }

    // MARK: Reading

    private mutating func readPiece() {
        let next = at(position + 1)
        guard at(position) == UInt8(ascii: "<"), let next else { return readText() }
        switch next {
        case UInt8(ascii: "!") where html[position...].starts(with: "<!--".utf8):
            position += 4
            skip(behind: "-->")
        case UInt8(ascii: "!"), UInt8(ascii: "?"): skip(behind: ">")
        case UInt8(ascii: "/") where at(position + 2).map(Self.isLetter) ?? false:
            readTag(from: position + 2, ends: true)
        case _ where Self.isLetter(next): readTag(from: position + 1, ends: false)
        default: readText()
        }
    }

    private mutating func readText() {
        let start = position
        position += 1
        while position < html.count, html[position] != UInt8(ascii: "<") { position += 1 }
        append(HTMLEntities.decode(string(start..<position)))
    }

    private mutating func readTag(from start: Int, ends: Bool) {
        position = start
        let name = word(until: "/>")
        var attributes: [String: String] = [:]
        while let byte = at(position), byte != UInt8(ascii: ">") {
            guard !Self.isSpace(byte), byte != UInt8(ascii: "/") else {
                position += 1
                continue
            }
            position += byte == UInt8(ascii: "=") ? 1 : 0
            let attribute = word(until: "=/>")
            let value = readValue()
            if attributes[attribute] == nil { attributes[attribute] = value }
        }
        // A tag that nothing ends is none.
        guard position < html.count else { return }
        position += 1
        if ends { end(name) } else { begin(name, attributes) }
    }

    private mutating func readValue() -> String {
        skipSpace()
        guard at(position) == UInt8(ascii: "=") else { return "" }
        position += 1
        skipSpace()
        guard let quote = at(position), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let start = position
            while let byte = at(position), !Self.isSpace(byte), byte != UInt8(ascii: ">") { position += 1 }
            return HTMLEntities.decode(string(start..<position))
        }
        let start = position + 1
        let end = html[start...].firstIndex(of: quote) ?? html.count
        position = min(end + 1, html.count)
        return HTMLEntities.decode(string(start..<end))
    }

    /// A name in lowercase.
    private mutating func word(until ends: String) -> String {
        let start = position
        while let byte = at(position), !Self.isSpace(byte), !ends.utf8.contains(byte) { position += 1 }
        return string(start..<position).lowercased()
    }

    private mutating func skipSpace() { while at(position).map(Self.isSpace) ?? false { position += 1 } }

    /// To the end if it is missing, as browsers do.
    private mutating func skip(behind end: String) {
        let end = Array(end.utf8)
        while position < html.count, !html[position...].starts(with: end) { position += 1 }
        position = min(position + end.count, html.count)
    }

    private func at(_ index: Int) -> UInt8? { html.indices.contains(index) ? html[index] : nil }
    private func string(_ range: Range<Int>) -> String { String(decoding: html[range], as: UTF8.self) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & 0xdf) }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    // MARK: Elements

    private mutating func begin(_ name: String, _ attributes: [String: String]) {
        switch name {
        case "style", "script", "title":
            while position < html.count {
                skip(behind: "</")
                if word(until: "/>") == name { return skip(behind: ">") }
            }
        case "br": breaks = min(breaks + 1, 2)
        case "a":
            endLink()
            if let address = attributes["href"], !address.isEmpty, !address.hasPrefix("#") { link = (address, "") }
        case "img": append(attributes["alt"] ?? "")
        case "ul", "ol":
            separate(name)
            lists.append(name == "ol" ? Self.start(attributes["start"]) - 1 : nil)
        case "li":
            separate(name)
            marker = String(repeating: "  ", count: min(max(lists.count - 1, 0), Self.deepest))
            if let number = lists.last ?? nil {
                lists[lists.count - 1] = number + 1
                marker += "\(number + 1). "
            } else {
                marker += "- "
            }
        default: separate(name)
        }
    }

    /// Lists in lists beyond this are no further indented, so that a text grows with its HTML.
    private static let deepest = 8

    /// The first number of a list.
    private static func start(_ text: String?) -> Int {
        text.flatMap { Int($0) }.flatMap { (-1_000_000...1_000_000).contains($0) ? $0 : nil } ?? 1
    }

    private mutating func end(_ name: String) {
        switch name {
        case "a": endLink()
        case "ul", "ol":
            if !lists.isEmpty { lists.removeLast() }
            separate(name)
        default: separate(name)
        }
    }

    private mutating func endLink() {
        guard let (address, shown) = link else { return }
        link = nil
        if shown.isEmpty {
            append(address)
        } else if address != shown, address != "mailto:\(shown)" {
            // In the brackets of RFC 3986, appendix C, so that what follows is not part of it.
            let isFollowedBySpace = hasSpace
            append(" <\(address)>")
            hasSpace = isFollowedBySpace
        }
    }

    /// Elements that stand on lines of their own; true for those with an empty line around them.
    private static let blocks: [String: Bool] = {
        let apart = "p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre hr"
        let lines =
            "div table tr caption li dt dd section article header footer main nav aside address center form fieldset "
            + "figure figcaption body"
        func names(_ text: String, _ isApart: Bool) -> [(String, Bool)] {
            text.split(separator: " ").map { (String($0), isApart) }
        }
        return Dictionary(uniqueKeysWithValues: names(apart, true) + names(lines, false))
    }()

    private mutating func separate(_ name: String) {
        if name == "td" || name == "th" { hasSpace = true }
        guard let isApart = Self.blocks[name] else { return }
        breaks = max(breaks, isApart && lists.isEmpty ? 2 : 1)
    }

    // MARK: Writing

    private mutating func append(_ piece: String) {
        for scalar in piece.unicodeScalars {
            let isFirst = breaks > 0 || text.isEmpty
            // A paragraph of one no-break space is an empty line.
            guard !(scalar.isASCII && Self.isSpace(UInt8(scalar.value))), scalar != "\u{a0}" || !isFirst else {
                hasSpace = true
                continue
            }
            if !text.isEmpty, breaks > 0 { text += String(repeating: "\n", count: breaks) }
            if hasSpace, breaks == 0, marker.isEmpty, !text.isEmpty {
                text += " "
                if link?.text.isEmpty == false { link?.text += " " }
            }
            text += marker
            (breaks, hasSpace, marker) = (0, false, "")
            text.unicodeScalars.append(scalar)
            link?.text.unicodeScalars.append(scalar)
        }
    }
}
