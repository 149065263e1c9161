import Foundation
import HTTPTypes

/// A response's lifetime (RFC 9111 §5.2).
enum CacheControl {
    /// Seconds; 0 if it must not be stored; nil if it is not stated.
    static func lifetime(_ headers: HTTPFields) -> TimeInterval? {
        guard let text = headers[.cacheControl]?.lowercased() else { return nil }
        var age: TimeInterval?
        for part in text.split(separator: ",") {
            let directive = part.trimmingPrefix { $0 == " " }
            if directive.hasPrefix("no-store") || directive.hasPrefix("no-cache") { return 0 }
            if directive.hasPrefix("max-age="), let seconds = Int64(directive.dropFirst(8)) {
                age = TimeInterval(max(0, seconds))
            }
        }
        return age
    }
}
