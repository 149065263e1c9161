package import struct Foundation.Date

/// What everything that runs for a request knows of it, as one task-local value.
///
/// Commands set its origin, deliveries the trace of the request that caused them.
package struct RequestContext: Sendable {
    /// Nil outside of requests and deliveries.
    package var trace: TraceContext?
    /// The request's arrival; nil outside of requests.
    ///
    /// One clock reading serves the whole request: if `auth_time` came from one reading and `validSince` from a later
    /// one, tokens could be revoked when they are issued.
    package var time: Date?
    package var origin = AuditOrigin(actor: .service)
    /// Nil if the outcomes of sign-ins are not counted.
    package var events: (any RequestEvents)?

    package init() {}

    @TaskLocal package static var current = RequestContext()

    /// Runs an operation in a changed context.
    package static func with<R>(
        _ change: (inout RequestContext) -> Void,
        _ body: () async throws -> R
    ) async rethrows -> R {
        var context = current
        change(&context)
        return try await $current.withValue(context, operation: body)
    }
}

/// Counts the outcomes of sign-ins; the use cases know how.
package protocol RequestEvents: AnyObject, Sendable {}
