/// A form of an HTML page, as far as a browser without scripts needs it.
package struct HTMLForm: Sendable {
    /// As written; empty for the page's own URL.
    package var action: String
    /// `GET` or `POST`.
    package var method: String
    /// What would be sent without touching anything; buttons aren't in it.
    package var fields: [(name: String, value: String)]
    package var buttons: [Button]
    /// The visible text, tags left out.
    package var text: String

    package struct Button: Sendable, Hashable {
        package var name: String?
        package var value: String
    }

    package func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The forms of a page, in order.
    package static func all(in html: String) -> [HTMLForm] {
        var forms: [HTMLForm] = []
        var open: HTMLForm?
        var list: OpenList?
        for piece in HTMLPiece.all(in: html) {
            switch piece {
            case .text(let text):
                open?.text += text
                list?.text += text
            case .tag("textarea", let attributes), .tag("select", let attributes):
                list = OpenList(name: attributes["name"])
            case .tag("option", let attributes): list?.begin(attributes)
            case .tag("/option", _): list?.endOption()
            case .tag("/textarea", _), .tag("/select", _):
                if let list, let name = list.name { open?.fields.append((name, list.chosen ?? list.text)) }
                list = nil
            case .tag("form", let attributes):
                open = HTMLForm(
                    action: attributes["action"] ?? "",
                    method: (attributes["method"] ?? "get").uppercased(),
                    fields: [],
                    buttons: [],
                    text: ""
                )
            case .tag("/form", _):
                if let open { forms.append(open) }
                open = nil
            case .tag(let name, let attributes):
                open?.take(name, attributes)
            }
        }
        return forms
    }

    private mutating func take(_ tag: String, _ attributes: [String: String]) {
        switch (tag, attributes["type"]?.lowercased() ?? "") {
        case ("button", _), ("input", "submit"):
            buttons.append(Button(name: attributes["name"], value: attributes["value"] ?? ""))
        case ("input", "checkbox"), ("input", "radio"):
            guard let name = attributes["name"], attributes["checked"] != nil else { return }
            fields.append((name, attributes["value"] ?? "on"))
        case ("input", _):
            guard let name = attributes["name"] else { return }
            fields.append((name, attributes["value"] ?? ""))
        default: return
        }
    }

    /// A text area, or a list of which one is chosen: the one that says so, else the first.
    private struct OpenList {
        var name: String?
        /// Of the area, or of the option that is open.
        var text = ""
        var chosen: String?
        private var value: String?
        private var isSelected = false

        init(name: String?) { self.name = name }

        mutating func begin(_ attributes: [String: String]) {
            text = ""
            value = attributes["value"]
            isSelected = attributes["selected"] != nil
        }

        mutating func endOption() {
            if isSelected || chosen == nil { chosen = value ?? text }
        }
    }
}
