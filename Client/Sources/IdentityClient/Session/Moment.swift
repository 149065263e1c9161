import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// A time that every process of this boot can compare, whatever the wall clock says.
struct Moment: Codable, Sendable, Equatable {
    private let boot: String?
    private let instant: ContinuousClock.Instant

    static var now: Moment { Moment(boot: currentBoot, instant: .now) }

    /// The time since then; nil if the machine has restarted, or its boots cannot be told apart.
    var elapsed: Duration? {
        guard let boot, boot == Self.currentBoot else { return nil }
        return instant.duration(to: .now)
    }

    private static let currentBoot: String? = {
        #if canImport(Darwin)
        var id = [UInt8](repeating: 0, count: 64)
        var size = id.count
        guard sysctlbyname("kern.bootsessionuuid", &id, &size, nil, 0) == 0 else { return nil }
        return String(decoding: id.prefix { $0 != 0 }, as: UTF8.self)
        #else
        return try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
    }()
}
