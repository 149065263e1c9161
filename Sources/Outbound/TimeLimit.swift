import NIOCore
import NIOPosix
import Synchronization

/// Stops work that takes too long.
enum TimeLimit {
    /// - Throws: what the work throws; ``OutboundError/timedOut`` if the time ends first;
    ///   ``OutboundError/cancelled`` if the caller is cancelled.
    static func run<Value: Sendable>(
        _ limit: Duration,
        _ work: @escaping @Sendable () async throws(OutboundError) -> Value
    ) async throws(OutboundError) -> Value {
        let outcome = await withTaskGroup(of: Result<Value, OutboundError>?.self) { group in
            group.addTask {
                do throws(OutboundError) {
                    let value = try await work()
                    return .success(value)
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await sleep(for: limit)
                return nil
            }
            let first = await group.next().flatMap(\.self)
            group.cancelAll()
            return first
        }
        if let outcome { return try outcome.get() }
        throw Task.isCancelled ? .cancelled : .timedOut
    }

    /// Ends early if the task is cancelled.
    ///
    /// Uses an event loop's timer, which is freed immediately: a cancelled sleep of Swift's clocks stays in memory
    /// until its time.
    private static func sleep(for limit: Duration) async {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let end = loop.makePromise(of: Void.self)
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { end.succeed() }
        await withTaskCancellationHandler {
            try? await end.futureResult.get()
        } onCancel: {
            timer.cancel()
            end.succeed()
        }
    }
}

/// Blocking work that its caller can abandon; it then ends unnoticed.
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
