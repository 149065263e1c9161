package import Projects

extension SMS {
    /// The text of the SMS: one line in the user's language, and what an app or a browser finds the code by.
    package func text(of project: Project) -> String {
        let settings = project.settings
        let own = LanguageTag.find(settings.phone.texts, for: language, settings.mail.defaultLocale)?.text
        let line = (own ?? Self.line(in: MailLanguage.best([language, settings.mail.defaultLocale])))
            .replacing("%CODE%", with: code).replacing("%APP_NAME%", with: project.appName)
        // The format of origin-bound one-time codes (WICG) ends an SMS like the app's hash.
        let end = appHash ?? host.map { "@\($0) #\(code)" }
        return end.map { "\(line)\n\n\($0)" } ?? line
    }

    private static func line(in language: MailLanguage) -> String {
        switch language.tag {
        case "de": "%CODE% ist Ihr Bestätigungscode für %APP_NAME%."
        case "ja": "%APP_NAME%の確認コードは%CODE%です。"
        default: "%CODE% is your verification code for %APP_NAME%."
        }
    }
}
