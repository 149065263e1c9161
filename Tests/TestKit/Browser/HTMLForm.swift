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
        for piece in HTMLPiece.all(in: html) {
            switch piece {
            case .text(let text):
                open?.text += text
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
        case ("input", _), ("textarea", _):
            guard let name = attributes["name"] else { return }
            fields.append((name, attributes["value"] ?? ""))
        default: return
        }
    }
}
