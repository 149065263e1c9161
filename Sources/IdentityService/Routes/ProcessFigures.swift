import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The process's use of resources, from the kernel (proc(5)); nil where there is no `/proc`.
struct ProcessFigures {
    let cpuSeconds: Double
    let residentBytes: Int
    let openFiles: Int
    /// Nil without a limit.
    let maximumFiles: Int?
    /// Seconds since 1970; nil if unknown.
    static let startTime: Double? = {
        guard let fields = fields() else { return nil }
        return (Date().timeIntervalSince1970 - ProcessInfo.processInfo.systemUptime + fields[19] / ticks).rounded()
    }()

    init?() {
        guard let fields = Self.fields(), let limits = Self.text("limits"),
            let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        cpuSeconds = (fields[11] + fields[12]) / Self.ticks
        residentBytes = Int(fields[21]) * Int(sysconf(Int32(_SC_PAGESIZE)))
        openFiles = files.count
        maximumFiles = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            .flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
    }

    private static var ticks: Double { Double(sysconf(Int32(_SC_CLK_TCK))) }

    /// The fields of `stat` from the third on: the second, a name in parentheses, may contain spaces.
    private static func fields() -> [Double]? {
        let fields = text("stat")?.split(separator: ")").last?.split(separator: " ").map { Double($0) ?? 0 } ?? []
        return fields.count > 21 ? fields : nil
    }

    private static func text(_ name: String) -> String? {
        try? String(contentsOfFile: "/proc/self/\(name)", encoding: .utf8)
    }
}
