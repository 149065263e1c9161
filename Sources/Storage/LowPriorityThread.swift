import Foundation

/// A thread for long CPU-bound work that runs only when no other thread needs the CPU.
enum LowPriorityThread {
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                // On Linux, this affects only this thread.
                _ = nice(19)
                continuation.resume(with: Result(catching: work))
            }
            thread.start()
        }
    }
}
