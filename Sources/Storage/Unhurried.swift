/// Runs one step of work that goes through many rows, then rests three times as long as that took.
///
/// However much there is, and whoever does it, three quarters of the time are left to requests.
/// - Throws: what `step` throws; `CancellationError` when the task is cancelled while it rests.
func unhurried<T>(isolation: isolated (any Actor)? = #isolation, _ step: () async throws -> T) async throws -> T {
    let began = ContinuousClock.now
    let value = try await step()
    try await Task.sleep(for: (.now - began) * 3)
    return value
}
