/// Why a password was neither hashed nor compared.
///
/// No case says anything about the password.
package enum PasswordError: Error, Equatable {
    /// All workers are busy and the queue is full: the response is 503.
    case overloaded
    /// The hasher was shut down.
    case stopped
    /// The task was cancelled while it waited for a worker.
    case cancelled
    case hashingFailed
}
