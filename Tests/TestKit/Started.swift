import Foundation
import Synchronization

/// Counts what tests start, and says it when the process ends: what is started often is what a run's time goes into.
package enum Started: String, Sendable {
    case service, database, client, provider, browser, program

    private static let counts = Mutex<[Started: Int]?>(nil)

    package static func count(_ what: Started) {
        counts.withLock { counts in
            if counts == nil { atexit { Started.say() } }
            counts = (counts ?? [:]).merging([what: 1], uniquingKeysWith: +)
        }
    }

    private static func say() {
        let counts = counts.withLock { $0 ?? [:] }
        let text = counts.sorted { $0.value > $1.value }.map { "\($0.value) × \($0.key.rawValue)" }
        print("Started: \(text.joined(separator: ", "))")
    }
}
