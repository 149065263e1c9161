import CLibPQ

/// What is needed to ask the server to give a running statement up, from any thread.
///
/// `@unchecked Sendable`: libpq only reads the object, and says that `PQcancel` may be called from another thread.
final class CancelHandle: @unchecked Sendable {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQfreeCancel(raw) }

    /// Sends the request over a connection of its own, and returns when the server has passed it on.
    func send() {
        // A request that fails is sent again while the statement runs.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(raw, message.baseAddress, 256)
        }
    }
}
