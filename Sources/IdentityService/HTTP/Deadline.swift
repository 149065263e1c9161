/// Ends what takes too long.
struct Deadline: Sendable {
    private let limit: Duration
    private let clock: any Clock<Duration>

    init(_ limit: Duration, clock: any Clock<Duration>) {
        self.limit = limit
        self.clock = clock
    }

    /// - Throws: 503 once the limit is over; the operation is cancelled and waited for.
    func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await clock.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw WireError.unavailable(cause: "timeout")
            }
            return value
        }
    }
}
