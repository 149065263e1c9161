import Foundation
import HTTPTypes

/// What an answer says about its own life (RFC 9111 §5.2).
enum CacheControl {
    /// Seconds; 0 when it must not be kept; nil when it says nothing.
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
