import HTTPTypes
import Projects

/// The context of a page: the language, and the project once it is known.
struct PageContext: Sendable {
    var language: PageLanguage = .english
    var project: Project?

    /// - Parameter values: for the text's placeholders, in addition to `APP_NAME`.
    func text(_ key: PageText, _ values: [String: String] = [:]) -> String {
        pieces(key).map { piece in
            switch piece {
            case .text(let text): String(text)
            case .placeholder(let name): value(name, values)
            }
        }.joined()
    }

    /// The text with isolated values, so that each has its own text direction.
    func html(_ key: PageText, _ values: [String: String] = [:]) -> HTML {
        let parts = pieces(key).map { piece -> HTML in
            switch piece {
            case .text(let text): "\(String(text))"
            case .placeholder(let name): "<bdi>\(value(name, values))</bdi>"
            }
        }
        return "\(html: parts)"
    }

    /// A page with one heading and its content.
    func page(_ title: PageText, _ content: HTML) -> Page {
        page(titled: title, "<h1>\(text(title))</h1>\n\(html: content)")
    }

    /// A page whose content has its own headings.
    func page(titled title: PageText, _ content: HTML) -> Page {
        let heading = text(title)
        let name = project?.appName
        var page = Page(title: name.map { "\(heading) – \($0)" } ?? heading, content: "")
        page.language = language.rawValue
        page.direction = language.direction
        if let project { page.colors = project.settings.pages }
        let header: HTML? = name.map { "<header><p><bdi>\($0)</bdi></p></header>" }
        page.content = """
            \(html: header)
            <main>
            \(html: content)
            </main>
            """
        return page
    }

    /// A page that redirects by itself, because forms and their responses may only lead to our own pages
    /// (`form-action`).
    func leaving(to url: String, _ advice: PageText, _ link: PageText, _ cookies: [Cookie]) -> Page {
        var page = page(
            .waitTitle,
            """
            <p role="status">\(html: html(advice))</p>
            <p><a class="button" href="\(url)">\(html: html(link))</a></p>
            """
        )
        page.leadsTo = url
        page.cookies = cookies
        return page
    }

    private enum Piece {
        case text(Substring)
        case placeholder(Substring)
    }

    /// In one pass, so that a value is never read as a placeholder.
    private func pieces(_ key: PageText) -> [Piece] {
        let text = language.text(key)
        var pieces: [Piece] = []
        var start = text.startIndex
        for match in text.matches(of: /%([A-Z_]+)%/) {
            pieces.append(.text(text[start..<match.range.lowerBound]))
            pieces.append(.placeholder(match.1))
            start = match.range.upperBound
        }
        return pieces + [.text(text[start...])]
    }

    private func value(_ name: Substring, _ values: [String: String]) -> String {
        values[String(name)] ?? (name == "APP_NAME" ? project?.appName ?? "" : "")
    }
}
