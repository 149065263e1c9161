package import struct Foundation.Date

/// The arrival time of the current task's request.
///
/// One clock reading serves the whole request: if `auth_time` came from one reading and `validSince` from a later one,
/// tokens could be revoked when they are issued. Nil outside of requests.
package enum RequestTime {
    @TaskLocal package static var current: Date?
}
