package import StrictJSON
import Text

/// An endpoint's response, before faults and before encoding.
package struct ProviderAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body

    package enum Body: Sendable {
        case json(JSONValue)
        case form(JSONObject)
        case html(String)
        case text(String)
        case bytes([UInt8])
        case empty
    }

    package init(_ status: Int, headers: [(name: String, value: String)] = [], _ body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// With status 200.
    package init(headers: [(name: String, value: String)] = [], _ object: JSONObject) {
        self.init(headers: headers, .json(.object(object)))
    }

    /// With status 200.
    package init(headers: [(name: String, value: String)] = [], _ body: Body) {
        self.init(200, headers: headers, body)
    }

    var bytes: [UInt8] {
        switch body {
        case .json(let value): Array(value.jsonText.utf8)
        case .form(let object):
            Array(FormFields(pairs: object.members.map { ($0.name, $0.value.string ?? $0.value.jsonText) }).text.utf8)
        case .html(let text), .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .empty: []
        }
    }

    /// The headers with a content type, unless there is one or the body is empty.
    var completeHeaders: [(name: String, value: String)] {
        guard !headers.contains(where: { $0.name.lowercased() == "content-type" }), let type = contentType else {
            return headers
        }
        return headers + [("Content-Type", type)]
    }

    private var contentType: String? {
        switch body {
        case .json: "application/json; charset=utf-8"
        case .form: "application/x-www-form-urlencoded; charset=utf-8"
        case .html: "text/html; charset=utf-8"
        case .text: "text/plain; charset=utf-8"
        case .bytes, .empty: nil
        }
    }

    mutating func setHeader(_ name: String, _ value: String) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append((name, value))
    }
}
