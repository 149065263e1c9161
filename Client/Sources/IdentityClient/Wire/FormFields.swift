import Foundation

/// Form encoding (`application/x-www-form-urlencoded`).
enum FormFields {
    static func encode(_ fields: KeyValuePairs<String, String?>) -> String {
        fields.compactMap { name, value in value.map { "\(escape(name))=\(escape($0))" } }.joined(separator: "&")
    }

    private static func escape(_ text: String) -> String {
        // RFC 3986 §2.3: everything else is escaped, which every decoder reads the same way.
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}
