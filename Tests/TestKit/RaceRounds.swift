import Foundation

/// How often races are run, and how many cases property tests make up: `make test-long` does more of both.
package enum RaceRounds {
    package static let count = ProcessInfo.processInfo.environment["RACE_ROUNDS"].flatMap { Int($0) } ?? 20
    /// Enough for that many on a busy machine.
    package static let minutes = max(5, count / 5)
}
