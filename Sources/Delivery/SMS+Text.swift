package import Projects

extension SMS {
    /// The text of the SMS: one line in the user's language, and the app's hash.
    package func text(of project: Project) -> String {
        let language = MailLanguage.best([language, project.settings.mail.defaultLocale])
        let line =
            switch language.tag {
            case "de": "%CODE% ist Ihr Bestätigungscode für %APP_NAME%."
            case "ja": "%APP_NAME%の確認コードは%CODE%です。"
            default: "%CODE% is your verification code for %APP_NAME%."
            }
        let text = line.replacing("%CODE%", with: code).replacing("%APP_NAME%", with: project.appName)
        return appHash.map { "\(text)\n\n\($0)" } ?? text
    }
}
