import Foundation

/// The server programs of one PostgreSQL installation.
struct ServerPrograms: Equatable {
    /// The folder with `postgres` and `initdb`, which is not on PATH on Debian.
    let folder: String
    /// Such as `15`.
    let major: String

    /// The installations on this machine: the one of `pg_config`, then Debian's, newest first.
    static func installed() -> [ServerPrograms] {
        var found: [ServerPrograms] = []
        if let answer = try? Command.run("/usr/bin/env", ["pg_config", "--bindir", "--version"]), answer.succeeded {
            let lines = answer.output.split(separator: "\n")
            if lines.count == 2, let version = lines[1].split(separator: " ").dropFirst().first {
                let major = version.prefix { $0.isNumber }
                found.append(ServerPrograms(folder: String(lines[0]), major: String(major)))
            }
        }
        let debian = "/usr/lib/postgresql"
        let majors = ((try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []).compactMap { Int($0) }
        found += majors.sorted(by: >).map { ServerPrograms(folder: "\(debian)/\($0)/bin", major: "\($0)") }
        return found.filter { programs in
            ["postgres", "initdb"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(programs.folder)/\($0)")
            }
        }
    }

    /// The programs that can open the data folder, or for a new folder the first ones installed.
    static func fitting(_ data: String) throws(PrivateClusterError) -> ServerPrograms {
        let installed = installed()
        guard let first = installed.first else { throw .notInstalled }
        guard let version = try? String(contentsOfFile: "\(data)/PG_VERSION", encoding: .utf8) else { return first }
        let major = version.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let fitting = installed.first(where: { $0.major == major }) else {
            var majors: [String] = []
            for programs in installed where !majors.contains(programs.major) { majors.append(programs.major) }
            throw .wrongVersion(folder: data, found: major, installed: majors)
        }
        return fitting
    }
}
