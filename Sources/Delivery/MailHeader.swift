import Foundation
import Text

/// Text in an email header: ASCII unchanged, everything else as encoded words (RFC 2047).
enum MailHeader {
    /// For a subject.
    static func text(_ text: String) -> String {
        isPlain(text) ? text : encoded(text)
    }

    /// For a name before an address: text that lenient readers could take for another address is encoded.
    static func phrase(_ text: String) -> String {
        isPlain(text) && !text.contains { "\"\\<>@,:;".contains($0) } ? "\"\(text)\"" : encoded(text)
    }

    /// As in `Sun, 22 Nov 2026 07:00:00 +0000` (RFC 5322 §3.3).
    static func date(_ date: Date) -> String {
        UTCTime(seconds: Int64(date.timeIntervalSince1970)).dated + " +0000"
    }

    /// Printable ASCII that fits on a line and does not look like an encoded word.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 60 && !text.contains("=?") && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// Words of at most 75 characters, each of whole characters, on separate lines.
    private static func encoded(_ text: String) -> String {
        var words = [""]
        for scalar in text.unicodeScalars {
            let last = words.count - 1
            if words[last].utf8.count + String(scalar).utf8.count > 42 { words.append("") }
            words[words.count - 1].unicodeScalars.append(scalar)
        }
        return words.map { "=?UTF-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}
