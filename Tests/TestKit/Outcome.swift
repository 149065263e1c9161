/// What an operation came to, kept for after the cleaning up.
struct Outcome: Sendable {
    private let error: (any Error)?

    init(_ operation: () async throws -> Void) async {
        do {
            try await operation()
            error = nil
        } catch {
            self.error = error
        }
    }

    func get() throws {
        if let error { throw error }
    }
}
