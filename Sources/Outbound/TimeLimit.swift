import NIOCore
import NIOPosix

/// Stops work that takes too long.
enum TimeLimit {
    /// - Parameter pass: returns when the time is over.
    /// - Throws: what the work throws; ``OutboundError/timedOut`` if the time ends first;
    ///   ``OutboundError/cancelled`` if the caller is cancelled.
    static func run<Value: Sendable>(
        _ limit: Duration,
        passing pass: @escaping @Sendable (Duration) async -> Void,
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
                await pass(limit)
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
    @Sendable static func sleep(for limit: Duration) async {
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
