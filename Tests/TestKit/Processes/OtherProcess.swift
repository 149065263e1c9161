import Foundation

/// A process that isn't a child of ours.
package struct OtherProcess: Sendable {
    package let processID: Int32

    /// The PostgreSQL of a data folder.
    package init?(postgresIn folder: String) {
        let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        guard let first = text?.split(separator: "\n").first, let number = Int32(first) else { return nil }
        processID = number
    }

    /// One that has ended, and that nobody has buried yet, does not run.
    package var isRunning: Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8) else { return false }
        // The state follows the name, which is in parentheses (proc(5)).
        let state = stat.split(separator: ")").last?.trimmingCharacters(in: .whitespaces).first
        return state != "Z" && state != "X"
    }

    /// Waits until it has ended; nobody tells those who aren't its parent.
    package func end() async throws { try await waitUntil { !isRunning } }
}

extension OtherProcess {
    /// Keeps it and its children from doing anything, as a machine does that hangs: nobody is told, nothing is closed.
    package func suspend() { signal(SIGSTOP) }
    package func resume() { signal(SIGCONT) }

    private func signal(_ signal: Int32) { for id in [processID] + children { _ = kill(id, signal) } }

    private var children: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { id in
            let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
            let fields = stat?.split(separator: ")").last?.split(separator: " ")
            return fields.map { $0.count > 1 && $0[1] == "\(processID)" } ?? false
        }
    }
}
