import Projects

extension MailLanguage {
    private static let code =
        "Oder geben Sie dort, wo Sie diese E-Mail angefordert haben, den Code %CODE% ein. Er gilt %CODE_EXPIRES_IN%; geben Sie "
        + "ihn nicht weiter."

    static let german = MailLanguage(
        tag: "de",
        greeting: "Guten Tag %DISPLAY_NAME%,",
        expiry: "Der Link gilt %EXPIRES_IN%.",
        closing: "Vielen Dank\nIhr %APP_NAME%-Team",
        texts: [
            .passwordReset: MailText(
                subject: "Neues Passwort für %APP_NAME%",
                before: "Über diesen Link legen Sie ein neues Passwort für Ihr %APP_NAME%-Konto %EMAIL% fest.",
                link: "Neues Passwort festlegen",
                after:
                    "Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist."
            ),
            .verifyEmail: MailText(
                subject: "E-Mail-Adresse für %APP_NAME% bestätigen",
                before: "Über diesen Link bestätigen Sie, dass %EMAIL% Ihre Adresse ist.",
                link: "Adresse bestätigen",
                code: code,
                after: "Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail."
            ),
            .signIn: MailText(
                subject: "Anmeldung bei %APP_NAME%",
                before: "Über diesen Link melden Sie sich als %EMAIL% bei %APP_NAME% an. Er gilt einmal; geben Sie ihn "
                    + "nicht weiter.",
                link: "Anmelden",
                code: code,
                after:
                    "Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ohne sie meldet sich niemand "
                    + "an."
            ),
            .verifyAndChangeEmail: MailText(
                subject: "Neue E-Mail-Adresse für %APP_NAME% bestätigen",
                before: "Über diesen Link wird %NEW_EMAIL% die Adresse Ihres %APP_NAME%-Kontos.",
                link: "Adresse ändern",
                after:
                    "Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Das Konto bleibt, wie es ist."
            ),
            .recoverEmail: MailText(
                subject: "Die E-Mail-Adresse Ihres %APP_NAME%-Kontos wurde geändert",
                before:
                    "Die Adresse Ihres %APP_NAME%-Kontos wurde von %EMAIL% in %NEW_EMAIL% geändert. Wenn Sie das nicht "
                    + "waren, machen Sie es über diesen Link rückgängig.",
                beforeWithoutNew:
                    "Die Adresse %EMAIL% wurde aus Ihrem %APP_NAME%-Konto entfernt. Wenn Sie das nicht waren, machen "
                    + "Sie es über diesen Link rückgängig.",
                link: "Rückgängig machen",
                after: "Wenn Sie es waren, ist nichts zu tun."
            ),
            .revertSecondFactor: MailText(
                subject: "Ihr %APP_NAME%-Konto hat einen neuen zweiten Faktor oder Passkey",
                before:
                    "Ihr %APP_NAME%-Konto %EMAIL% hat einen neuen zweiten Faktor oder Passkey. Wenn nicht Sie ihn "
                    + "hinzugefügt haben, entfernen Sie ihn über diesen Link.",
                link: "Faktor oder Passkey entfernen",
                after: "Wenn Sie es waren, ist nichts zu tun."
            ),
        ]
    )
}
