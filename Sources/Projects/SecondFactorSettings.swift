/// A project's second factors: `mfa` of its config.
///
/// If one kind is enabled, every account with an enrolled factor must prove one.
package struct SecondFactorSettings: Sendable, Hashable, Codable {
    /// `mfa.state` is ENABLED.
    package var isEnabled = false
    /// `mfa.enabledProviders` contains PHONE_SMS; only used if ``isEnabled``.
    package var offersSMS = true
    /// A provider config with `totpProviderConfig` is ENABLED.
    package var offersTOTP = false
    /// Time steps before and after the current one whose codes are accepted; nil for the usual number.
    package var adjacentIntervals: Int?

    package static let adjacentIntervalsRange = 0...10

    /// ``adjacentIntervals``, or 5.
    package var acceptedIntervals: Int64 { Int64(adjacentIntervals ?? 5) }

    package init() {}

    package var sms: Bool { isEnabled && offersSMS }
    package var totp: Bool { offersTOTP }
    package var isOn: Bool { sms || totp }
}
