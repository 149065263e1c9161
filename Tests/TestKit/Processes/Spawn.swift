import Foundation

/// Starts programs that inherit nothing from the tests but what is handed over.
///
/// Foundation's `Process` lets a program inherit the descriptors of whatever else is being started at the moment; with
/// many at once, one that lives long hides the end of others.
enum Spawn {
    struct Failure: Error {
        var code: Int32
    }

    /// The program is told to end when the calling thread does, so that nothing outlives tests that are killed.
    ///
    /// - Returns: the process's id; whoever calls has to wait for it.
    static func start(
        _ path: String,
        _ arguments: [String],
        environment: [String: String],
        output: Int32,
        errors: Int32
    ) throws -> pid_t {
        Started.count(.program)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // Those of Foundation pass on by themselves.
        for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
            if let open = Int32(name), open > 2 { unsafe posix_spawn_file_actions_addclose(&actions, open) }
        }

        // Signals as for a program that a shell starts; ours are blocked on most threads.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        // A group of its own: a browser that is told to end tells its whole group.
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        let line = ["/usr/bin/setpriv", "--pdeathsig", "TERM", "--", path] + arguments
        var words = unsafe line.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var processID: pid_t = 0
        let code = unsafe posix_spawn(&processID, line[0], &actions, &attributes, &words, &variables)
        guard code == 0 else { throw Failure(code: code) }
        return processID
    }

    /// Waits for the end; blocks.
    ///
    /// - Returns: the exit code; a signal counts as 128 and its number, as in a shell.
    static func wait(for processID: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(processID, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
