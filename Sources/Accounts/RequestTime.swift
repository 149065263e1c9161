package import struct Foundation.Date

/// When the request came that a task answers.
///
/// One reading of the clock serves the whole request: an `auth_time` from one reading and a `validSince` from the next, a
/// second later, would make tokens that are revoked when they are issued. Outside of a request there is none.
package enum RequestTime {
    @TaskLocal package static var current: Date?
}
