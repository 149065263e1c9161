import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// A time that every process of this boot can compare, whatever the wall clock says.
struct Moment: Codable, Sendable, Equatable {
    private let boot: String
    private let instant: ContinuousClock.Instant

    static var now: Moment { Moment(boot: currentBoot, instant: .now) }

    /// The time since then; nil if the machine has restarted.
    var elapsed: Duration? {
        guard boot == Self.currentBoot else { return nil }
        return instant.duration(to: .now)
    }

    /// Where the system does not tell, each process counts as a boot of its own.
    private static let currentBoot = systemBoot ?? UUID().uuidString

    private static var systemBoot: String? {
        #if canImport(Darwin)
        var id = [UInt8](repeating: 0, count: 64)
        var size = id.count
        guard sysctlbyname("kern.bootsessionuuid", &id, &size, nil, 0) == 0 else { return nil }
        return String(decoding: id.prefix { $0 != 0 }, as: UTF8.self)
        #else
        try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
    }
}
