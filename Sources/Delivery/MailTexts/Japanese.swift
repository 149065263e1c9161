import Projects

extension MailLanguage {
    private static let code =
        "または、このメールをリクエストした画面でコード %CODE% を入力してください。コードの有効期限は%CODE_EXPIRES_IN%です。他の人に教えないでください。"

    static let japanese = MailLanguage(
        tag: "ja",
        greeting: "%DISPLAY_NAME% 様",
        expiry: "リンクの有効期限は%EXPIRES_IN%です。",
        closing: "よろしくお願いいたします。\n%APP_NAME% チーム",
        texts: [
            .passwordReset: MailText(
                subject: "%APP_NAME% のパスワードの再設定",
                before: "次のリンクから、%APP_NAME% のアカウント %EMAIL% の新しいパスワードを設定してください。",
                link: "新しいパスワードを設定する",
                after: "お心当たりがない場合は、このメールを無視してください。パスワードは変更されません。"
            ),
            .verifyEmail: MailText(
                subject: "%APP_NAME% のメールアドレスの確認",
                before: "次のリンクから、%EMAIL% がご自身のメールアドレスであることを確認してください。",
                link: "メールアドレスを確認する",
                code: code,
                after: "お心当たりがない場合は、このメールを無視してください。"
            ),
            .signIn: MailText(
                subject: "%APP_NAME% へのログイン",
                before: "次のリンクから、%EMAIL% として %APP_NAME% にログインできます。リンクは一度だけ有効です。他の人に渡さないでください。",
                link: "ログインする",
                code: code,
                after: "お心当たりがない場合は、このメールを無視してください。このメールがなければ誰もログインできません。"
            ),
            .verifyAndChangeEmail: MailText(
                subject: "%APP_NAME% の新しいメールアドレスの確認",
                before: "次のリンクから、%APP_NAME% のアカウントのメールアドレスを %NEW_EMAIL% に変更してください。",
                link: "メールアドレスを変更する",
                after: "お心当たりがない場合は、このメールを無視してください。アカウントは変更されません。"
            ),
            .recoverEmail: MailText(
                subject: "%APP_NAME% のメールアドレスが変更されました",
                before: "%APP_NAME% のアカウントのメールアドレスが %EMAIL% から %NEW_EMAIL% に変更されました。"
                    + "ご自身による変更でない場合は、次のリンクから元に戻してください。",
                beforeWithoutNew: "%APP_NAME% のアカウントからメールアドレス %EMAIL% が削除されました。"
                    + "ご自身による削除でない場合は、次のリンクから元に戻してください。",
                link: "元に戻す",
                after: "ご自身で変更された場合は、何もする必要はありません。"
            ),
            .revertSecondFactor: MailText(
                subject: "%APP_NAME% のアカウントに 2 段階認証またはパスキーが追加されました",
                before: "%APP_NAME% のアカウント %EMAIL% に、2 段階認証またはパスキーが追加されました。"
                    + "ご自身による追加でない場合は、次のリンクから取り消してください。",
                link: "追加を取り消す",
                after: "ご自身で追加された場合は、何もする必要はありません。"
            ),
        ]
    )
}
