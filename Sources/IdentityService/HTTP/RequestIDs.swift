import Secrets
import Synchronization

/// Creates the IDs of requests in responses and log lines: unique in a process, without revealing their number.
///
/// It is a counter from a random start, mixed as in SplitMix64 (Steele, Lea, Flood 2014), which is a bijection. The
/// system's random bytes would take a fourteenth of an empty request's CPU time.
final class RequestIDs: Sendable {
    private let counter = Atomic(UInt64.random(in: .min ... .max))

    /// 11 characters of base64url.
    func next() -> String {
        var id = counter.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        id = (id ^ id >> 30) &* 0xbf58_476d_1ce4_e5b9
        id = (id ^ id >> 27) &* 0x94d0_49bb_1331_11eb
        id ^= id >> 31
        return Base64URL.encode((0..<8).map { UInt8(truncatingIfNeeded: id >> ($0 * 8)) })
    }
}
