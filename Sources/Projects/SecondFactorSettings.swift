/// Which second factors a project offers: `mfa` of its config.
///
/// Once one is on, every account that has enrolled any factor is asked for one.
package struct SecondFactorSettings: Sendable, Hashable, Codable {
    /// `mfa.state` is ENABLED.
    package var isEnabled = false
    /// `mfa.enabledProviders` has PHONE_SMS; counts while ``isEnabled``.
    package var offersSMS = true
    /// A provider config with `totpProviderConfig` is ENABLED.
    package var offersTOTP = false
    /// Time steps before and after now whose codes are taken.
    package var adjacentIntervals = 5

    package static let adjacentIntervalsRange = 0...10

    package init() {}

    package var sms: Bool { isEnabled && offersSMS }
    package var totp: Bool { offersTOTP }
    package var isOn: Bool { sms || totp }
}
