/// The emails, by what their link does.
package enum MailTemplate: String, Sendable, Codable, CaseIterable {
    case passwordReset, verifyEmail, recoverEmail, revertSecondFactor, signIn, verifyAndChangeEmail

    /// The name in `notification.sendEmail`; the last two are not part of Firebase.
    package var settingsName: String {
        switch self {
        case .passwordReset: "resetPasswordTemplate"
        case .verifyEmail: "verifyEmailTemplate"
        case .recoverEmail: "changeEmailTemplate"
        case .revertSecondFactor: "revertSecondFactorAdditionTemplate"
        case .signIn: "signInTemplate"
        case .verifyAndChangeEmail: "verifyAndChangeEmailTemplate"
        }
    }

    /// The lifetime of its link where a project chooses none, in seconds.
    package var standardLinkLifetime: Int64 {
        switch self {
        case .passwordReset: 3_600
        case .signIn: 6 * 3_600
        case .verifyEmail, .verifyAndChangeEmail, .recoverEmail, .revertSecondFactor: 3 * 86_400
        }
    }

    /// What a project may choose: five minutes to seven days.
    package static let linkLifetimes: ClosedRange<Int64> = 300...604_800

    /// What subjects and bodies may contain.
    package static let placeholders = [
        "%LINK%", "%CODE%", "%EMAIL%", "%NEW_EMAIL%", "%DISPLAY_NAME%", "%APP_NAME%", "%EXPIRES_IN%",
        "%CODE_EXPIRES_IN%",
    ]
}
