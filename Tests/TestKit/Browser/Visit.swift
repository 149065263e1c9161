package import Text

/// Where a browser has got to, and how.
package struct Visit: Sendable {
    /// The last URL, with its fragment.
    package var url: String
    /// True when the browser stopped before it opened ``url``.
    package var isStopped: Bool
    /// 0 when the browser stopped.
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// What a form would have posted to ``url``, where the browser stopped.
    package var posted: FormFields?
    /// Every request that was made, in order.
    package var hops: [Hop]

    package struct Hop: Sendable {
        package var method: String
        package var url: String
        package var status: Int
        package var headers: [(name: String, value: String)]
    }

    package var text: String { String(decoding: body, as: UTF8.self) }
    package var forms: [HTMLForm] { HTMLForm.all(in: text) }

    /// The first form whose visible text has this in it.
    package func form(with text: String) -> HTMLForm? { forms.first { $0.text.contains(text) } }

    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Parameters of the last URL's query.
    package var query: FormFields { FormFields(URLParts(url)?.query ?? "") }
    /// Parameters of the last URL's fragment.
    package var fragment: FormFields { FormFields(URLParts(url)?.fragment ?? "") }
}
