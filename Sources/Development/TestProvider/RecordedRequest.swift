package import struct Foundation.Date
package import Text

/// A request that a tenant received, and the status of the response.
package struct RecordedRequest: Sendable {
    package var endpoint: ProviderEndpoint
    package var method: String
    package var path: String
    /// As sent, without the question mark; empty when there is none.
    package var query: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var time: Date
    /// Nil while the response is delayed, or when the connection was cut instead.
    package var status: Int?

    /// The first header of that name, in any letter case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The form body of a POST, else the query.
    package var form: String { method == "POST" ? String(decoding: body, as: UTF8.self) : query }
    package var fields: FormFields { FormFields(form) }

    /// What is wrong with the encoding of ``form``, which some providers refuse; nil if nothing is.
    var encodingFault: String? {
        if form.contains("+") { return "a plus sign for a space" }
        return FormFields(strict: form) == nil ? "a broken escape" : nil
    }
}
