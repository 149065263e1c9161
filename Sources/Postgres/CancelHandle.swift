import CLibPQ

/// Cancels a running statement on the server, from any thread.
///
/// `@unchecked Sendable`: the pool's lock guards the count; libpq only reads the object, and documents that `PQcancel` may be
/// called from another thread.
final class CancelHandle: @unchecked Sendable {
    private let raw: OpaquePointer
    /// Requests that are being sent; guarded by the pool's lock.
    var inFlight = 0

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQfreeCancel(raw) }

    /// Sends the request over a separate connection, and returns when the server has passed it on.
    func send() {
        // A failed request is sent again while the statement runs.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(raw, message.baseAddress, 256)
        }
    }
}
