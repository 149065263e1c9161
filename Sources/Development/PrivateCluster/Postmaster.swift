import Foundation
import Postgres
import Text

/// The running server of a data folder, according to its `postmaster.pid` (PostgreSQL, `miscadmin.h`).
struct Postmaster {
    let processID: Int32
    let port: String
    let socketFolder: String

    init?(data: String) {
        guard let text = try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 5, let processID = Int32(lines[0]) else { return nil }
        self.processID = processID
        port = String(lines[3])
        socketFolder = String(lines[4])
    }

    /// Whether the process is this folder's server and not another program that got the number after a crash.
    func isAlive(data: String) -> Bool {
        guard kill(processID, 0) == 0 else { return false }
        #if os(Linux)
        let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(processID)/cwd")
        return folder.map { URL(fileURLWithPath: $0).standardizedFileURL }
            == URL(fileURLWithPath: data).standardizedFileURL
        #else
        return true
        #endif
    }

    var conninfo: String { "host=\(Self.quote(socketFolder)) port=\(port) user=postgres dbname=postgres" }

    static func quote(_ value: String) -> String { "'\(value.escaped(.conninfo))'" }
}
