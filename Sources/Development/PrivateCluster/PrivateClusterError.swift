/// Why the private PostgreSQL cannot run, in words for the person at the terminal.
package enum PrivateClusterError: Error, Equatable, CustomStringConvertible {
    case notInstalled
    /// The folder belongs to a major version that is not installed.
    case wrongVersion(folder: String, found: String, installed: [String])
    case alreadyRunning(folder: String)
    case unusableFolder(String, reason: String)
    /// A program failed; `log` is the end of its output.
    case failed(program: String, log: String)
    /// The server ended without being told to.
    case ended(log: String)

    package var description: String {
        switch self {
        case .notInstalled:
            "no PostgreSQL server found: install the package postgresql, or put pg_config on PATH"
        case .wrongVersion(let folder, let found, let installed):
            """
            the data in \(folder) belongs to PostgreSQL \(found), but installed is \
            \(installed.joined(separator: ", ")): install postgresql-\(found), or choose another folder
            """
        case .alreadyRunning(let folder): "another process already runs the database in \(folder)"
        case .unusableFolder(let folder, let reason): "the folder \(folder) can't be used: \(reason)"
        case .failed(let program, let log): "\(program) failed:\n\(log)"
        case .ended(let log): "PostgreSQL ended unexpectedly:\n\(log)"
        }
    }
}
