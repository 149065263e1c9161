package import IdentityService
import NIOCore

extension ServiceResponder.Limits {
    /// Those of a test that is about none of them: with all tests at once, what takes a moment may take minutes.
    package static var patient: Self {
        var limits = Self()
        (limits.time, limits.idle, limits.firstHead) = (.minutes(10), .minutes(10), .minutes(10))
        return limits
    }
}
