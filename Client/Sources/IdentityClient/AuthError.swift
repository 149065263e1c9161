public import Foundation

/// Why an operation failed.
public enum AuthError: Error, Sendable {
    /// The service refused the request. Switch over ``Refusal/code``.
    case refused(Refusal)
    /// The identity belongs to another account, or its email does. The value says how to continue.
    case accountConflict(AccountConflict)
    /// The account has a second factor. The value completes the sign-in.
    case secondFactorRequired(MultiFactorResolver)
    /// The service ended the session, and the user is signed out here: `userTokenExpired`, `userDisabled`,
    /// `userNotFound` or `invalidRefreshToken`.
    case sessionEnded(Refusal)
    /// No user is signed in, or another user than the one whose operation you called.
    case notSignedIn
    /// The credential belongs to another user than the one to reauthenticate.
    case userMismatch
    /// The network, a proxy or the service failed. The session continues; try again.
    case unavailable(Unavailability)
    /// The session could not be read from the store, or a lock was not granted. The session continues.
    case storage(SessionStorageError)
    /// The user cancelled at the provider, or the task was cancelled.
    case cancelled
    /// The browser or the system's sign-in failed; the text is the system's.
    case webAuthentication(String)
    /// A parameter is not valid; the text says which.
    case invalidArgument(String)

    /// The code of a refusal, or of what ended the session; nil for other errors.
    public var code: AuthErrorCode? {
        switch self {
        case .refused(let refusal), .sessionEnded(let refusal): refusal.code
        default: nil
        }
    }
}

/// A refusal of the service: `CODE` or `CODE : detail` (docs/reference/errors.md).
public struct Refusal: Sendable, Hashable {
    public var code: AuthErrorCode
    /// For developers; may change.
    public var detail: String?

    init(message: String) {
        let parts = message.split(separator: " : ", maxSplits: 1)
        self.code = AuthErrorCode(rawValue: parts.first.map(String.init) ?? message)
        self.detail = parts.count > 1 ? String(parts[1]) : nil
    }
}

/// A failure that says nothing about the account or the session.
public struct Unavailability: Sendable {
    public enum Reason: Sendable {
        /// No response: offline, a timeout, a connection that broke.
        case network(URLError?)
        /// A status of 429 or 5xx, or a body that is not the service's, such as a proxy's HTML.
        case response(status: Int)
    }

    public var reason: Reason
    /// What the response's `Retry-After` asks for, at most an hour.
    public var retryAfter: Duration?

    init(reason: Reason, retryAfter: Duration? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
    }
}

extension AuthError: CustomStringConvertible, LocalizedError {
    /// Describes the error without tokens, addresses or other personal data.
    public var description: String {
        switch self {
        case .refused(let refusal): "The service refused the request: \(refusal.code.rawValue)."
        case .accountConflict(let conflict): "The identity conflicts with an account: \(conflict.reason)."
        case .secondFactorRequired: "The account requires a second factor."
        case .sessionEnded(let refusal): "The service ended the session: \(refusal.code.rawValue)."
        case .notSignedIn: "No user is signed in."
        case .userMismatch: "The credential belongs to another user."
        case .unavailable(let unavailability): "The service is unavailable: \(unavailability.reason)."
        case .storage(let error): "The session's store failed: \(error)."
        case .cancelled: "The operation was cancelled."
        case .webAuthentication(let text): "The sign-in in the browser failed: \(text)"
        case .invalidArgument(let text): "An argument is not valid: \(text)"
        }
    }

    public var errorDescription: String? { description }
}

extension Unavailability.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .network(let error): "network error \(error?.code.rawValue ?? 0)"
        case .response(let status): "unexpected response with status \(status)"
        }
    }
}
