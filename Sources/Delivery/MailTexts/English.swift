import Projects

extension MailLanguage {
    private static let code =
        "Or enter the code %CODE% where you requested this email. It expires after %CODE_EXPIRES_IN%. Do not share it."

    static let english = MailLanguage(
        tag: "en",
        greeting: "Hello %DISPLAY_NAME%,",
        expiry: "The link expires in %EXPIRES_IN%.",
        closing: "Thanks,\nyour %APP_NAME% team",
        texts: [
            .passwordReset: MailText(
                subject: "Reset your password for %APP_NAME%",
                before: "Follow this link to set a new password for your %APP_NAME% account %EMAIL%.",
                link: "Set a new password",
                after: "If you did not request this, ignore this email. Your password stays the same."
            ),
            .verifyEmail: MailText(
                subject: "Confirm your email address for %APP_NAME%",
                before: "Follow this link to confirm that %EMAIL% is your email address.",
                link: "Confirm email address",
                code: code,
                after: "If you did not request this, ignore this email."
            ),
            .signIn: MailText(
                subject: "Sign in to %APP_NAME%",
                before: "Follow this link to sign in to %APP_NAME% as %EMAIL%. The link works once. Do not share it.",
                link: "Sign in",
                code: code,
                after: "If you did not request this, ignore this email. No one can sign in without it."
            ),
            .verifyAndChangeEmail: MailText(
                subject: "Confirm your new email address for %APP_NAME%",
                before: "Follow this link to change the email address of your %APP_NAME% account to %NEW_EMAIL%.",
                link: "Change email address",
                after: "If you did not request this, ignore this email. Your account stays the same."
            ),
            .recoverEmail: MailText(
                subject: "The email address of your %APP_NAME% account was changed",
                before: "The email address of your %APP_NAME% account was changed from %EMAIL% to %NEW_EMAIL%. "
                    + "If you did not change it, follow this link to restore the previous address.",
                beforeWithoutNew: "The email address %EMAIL% was removed from your %APP_NAME% account. "
                    + "If you did not remove it, follow this link to restore it.",
                link: "Restore email address",
                after: "If you did this, you can ignore this email."
            ),
            .revertSecondFactor: MailText(
                subject: "A second factor or passkey was added to your %APP_NAME% account",
                before: "Your %APP_NAME% account %EMAIL% has a new second factor or passkey. "
                    + "If you did not add it, follow this link to remove it.",
                link: "Remove it",
                after: "If you did this, you can ignore this email."
            ),
        ]
    )
}
