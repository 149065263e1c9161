import Foundation

/// The folders of a private cluster, locked for as long as the value exists.
struct ClusterFolder: ~Copyable {
    /// Contains `data`, `log` and `lock`; the folder's mode is the access control.
    let path: String
    /// The socket's folder: another one when the path would be too long for a socket address.
    let socketFolder: String
    private let lock: FileHandle

    var data: String { "\(path)/data" }
    var log: String { "\(path)/log" }
    var isNew: Bool { !FileManager.default.fileExists(atPath: "\(data)/PG_VERSION") }

    /// Creates the folders that are missing.
    init(_ wanted: String) throws {
        let absolute = URL(fileURLWithPath: wanted).standardizedFileURL.path
        let path = try Self.make(absolute)
        let lock = try Self.lock(path)
        let socketFolder = try Self.fitsSocket(path) ? path : Self.makeTemporary()
        self.path = path
        self.lock = lock
        self.socketFolder = socketFolder
    }

    /// Releases the lock, and deletes the socket folder if it is a separate one.
    consuming func close() {
        try? lock.close()
        if socketFolder != path { try? FileManager.default.removeItem(atPath: socketFolder) }
    }

    /// The last part of the server's log.
    static func tail(of log: String) -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(8).joined(separator: "\n")
    }

    /// The data folder to use when the server's user cannot enter the wanted one, such as one in a closed home
    /// directory.
    static func substitute(for path: String) -> String {
        // The path as a single name, so that the next start finds it again.
        let name = path.split(separator: "/").joined(separator: "-")
        return "/var/lib/identity-dev/\(name)"
    }

    private static func make(_ path: String) throws -> String {
        // Its owner and mode are about to change, so it must not be a folder with other content.
        let content = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        guard content.isEmpty || content.contains("lock") else {
            throw PrivateClusterError.unusableFolder(path, reason: "it is neither empty nor a database folder")
        }
        guard ServerUser.isOther else {
            do {
                try FileManager.default.createDirectory(
                    atPath: path,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            } catch {
                throw PrivateClusterError.unusableFolder(path, reason: "it can't be made, or is somebody else's")
            }
            return path
        }
        try ServerUser.makeFolder(path)
        if try ServerUser.canEnter(path) { return path }
        let substitute = substitute(for: path)
        try ServerUser.makeFolder(substitute)
        guard try ServerUser.canEnter(substitute) else {
            throw PrivateClusterError.unusableFolder(path, reason: "the user postgres can't enter it")
        }
        return substitute
    }

    private static func lock(_ path: String) throws -> FileHandle {
        let file = "\(path)/lock"
        if !FileManager.default.fileExists(atPath: file) {
            _ = FileManager.default.createFile(atPath: file, contents: nil)
        }
        guard let handle = FileHandle(forWritingAtPath: file) else {
            throw PrivateClusterError.unusableFolder(path, reason: "it can't be written to")
        }
        guard flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw PrivateClusterError.alreadyRunning(folder: path)
        }
        // A server that outlives this process must not keep the lock.
        _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        return handle
    }

    /// Whether a socket address can hold the path: 107 bytes and a NUL (unix(7)).
    private static func fitsSocket(_ path: String) -> Bool {
        "\(path)/.s.PGSQL.5432".utf8.count <= 107
    }

    private static func makeTemporary() throws -> String {
        let answer = try Command.run("/usr/bin/env", ["mktemp", "-d", "/tmp/identity.XXXXXXXX"])
        let path = answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
        guard answer.succeeded else { throw PrivateClusterError.failed(program: "mktemp", log: path) }
        if ServerUser.isOther { try ServerUser.makeFolder(path) }
        return path
    }
}
