/// Runs one step of work on many rows, then pauses for three times as long as it took.
///
/// So however many rows there are, three quarters of the time remain for requests.
///
/// - Throws: what `step` throws; `CancellationError` if the task is cancelled during the pause.
func unhurried<T>(isolation: isolated (any Actor)? = #isolation, _ step: () async throws -> T) async throws -> T {
    let began = ContinuousClock.now
    let value = try await step()
    try await Task.sleep(for: (.now - began) * 3)
    return value
}
