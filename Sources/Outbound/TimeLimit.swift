import NIOPosix
import Synchronization

/// Ends work that takes too long.
enum TimeLimit {
    /// - Throws: what the work throws; ``OutboundError/timedOut`` when the time is over first;
    ///   ``OutboundError/cancelled`` when the caller is cancelled.
    static func run<Value: Sendable>(
        _ limit: Duration,
        _ work: @escaping @Sendable () async throws(OutboundError) -> Value
    ) async throws(OutboundError) -> Value {
        let outcome = await withTaskGroup(of: Result<Value, OutboundError>?.self) { group in
            group.addTask {
                do throws(OutboundError) {
                    return .success(try await work())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            let first = await group.next().flatMap(\.self)
            group.cancelAll()
            return first
        }
        if let outcome { return try outcome.get() }
        throw Task.isCancelled ? .cancelled : .timedOut
    }
}

/// Blocking work that its caller may stop waiting for; it ends by itself, unheard.
enum Abandonable {
    static func run<Value: Sendable>(
        otherwise abandoned: Value,
        _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        let waiting = Mutex<(continuation: CheckedContinuation<Value, Never>?, over: Bool)>((nil, false))
        let finish = { @Sendable (value: Value) in
            let continuation = waiting.withLock { state in
                defer { state = (nil, true) }
                return state.continuation
            }
            continuation?.resume(returning: value)
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let over = waiting.withLock { state in
                    if !state.over { state.continuation = continuation }
                    return state.over
                }
                if over { return continuation.resume(returning: abandoned) }
                NIOThreadPool.singleton.submit { state in
                    finish(state == .active ? work() : abandoned)
                }
            }
        } onCancel: {
            finish(abandoned)
        }
    }
}
