extension MailLanguage {
    static let english = MailLanguage(
        tag: "en",
        greeting: "Hello %DISPLAY_NAME%,",
        closing: "Thanks,\nyour %APP_NAME% team",
        texts: [
            .passwordReset: MailText(
                subject: "Reset your password for %APP_NAME%",
                before: "Follow this link to set a new password for your %APP_NAME% account %EMAIL%.",
                link: "Set a new password",
                after: "If you did not ask for this, ignore this mail: your password stays as it is."
            ),
            .verifyEmail: MailText(
                subject: "Confirm your email address for %APP_NAME%",
                before: "Follow this link to confirm that %EMAIL% is your address.",
                link: "Confirm the address",
                after: "If you did not ask for this, ignore this mail."
            ),
            .signIn: MailText(
                subject: "Sign in to %APP_NAME%",
                before: "Follow this link to sign in to %APP_NAME% as %EMAIL%. It works once; pass it on to nobody.",
                link: "Sign in",
                after: "If you did not ask for this, ignore this mail: nobody signs in without the link."
            ),
            .verifyAndChangeEmail: MailText(
                subject: "Confirm your new email address for %APP_NAME%",
                before: "Follow this link to make %NEW_EMAIL% the address of your %APP_NAME% account.",
                link: "Change the address",
                after: "If you did not ask for this, ignore this mail: the account stays as it is."
            ),
            .recoverEmail: MailText(
                subject: "The email address of your %APP_NAME% account was changed",
                before: "The address of your %APP_NAME% account was changed from %EMAIL% to %NEW_EMAIL%. "
                    + "If that was not you, follow this link to change it back.",
                link: "Change it back",
                after: "If it was you, there is nothing to do."
            ),
            .revertSecondFactor: MailText(
                subject: "A second factor was added to your %APP_NAME% account",
                before: "From now on your %APP_NAME% account %EMAIL% asks for a second factor at sign-in. "
                    + "If it was not you who added it, follow this link to remove it.",
                link: "Remove the second factor",
                after: "If it was you, there is nothing to do."
            ),
        ]
    )
}
