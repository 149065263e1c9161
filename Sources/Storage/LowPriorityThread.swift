import Foundation

/// A thread for work that takes a core for long: the system gives it what nobody else wants.
enum LowPriorityThread {
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                // Of this thread alone, on Linux.
                _ = nice(19)
                continuation.resume(with: Result(catching: work))
            }
            thread.start()
        }
    }
}
