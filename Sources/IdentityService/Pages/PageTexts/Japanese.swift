extension PageText {
    var japanese: String {
        switch self {
        case .address: "メールアドレス"
        case .currentAddress: "現在のメールアドレス"
        case .newAddress: "新しいメールアドレス"
        case .formerAddress: "元のメールアドレス"
        case .signInMethods: "ログイン方法"
        case .secondFactor: "2 段階認証"
        case .methodPassword: "パスワード"
        case .methodEmailLink: "メールのリンク"
        case .methodPhone: "電話番号"
        case .methodNone: "なし"
        case .factorApp: "認証アプリ"
        case .factorSMS: "%NUMBER% への SMS"

        case .verifyTitle: "メールアドレスの確認"
        case .verifyLead: "あなたのメールアドレスで、%APP_NAME% に次のアカウントが作成されました。"
        case .verifyNote: "ご自身で作成した場合にのみ確認してください。作成した人は、確認後もこのアカウントをそのまま利用できます。"
        case .verifyButton: "メールアドレスを確認する"
        case .verifyDoneTitle: "メールアドレスを確認しました"
        case .verifyDone: "%EMAIL% を、%APP_NAME% のアカウントのメールアドレスとして確認しました。"

        case .changeTitle: "メールアドレスの変更"
        case .changeLead: "%APP_NAME% の次のアカウントのメールアドレスを変更します。"
        case .changeNote: "ご自身のアカウントである場合にのみ続けてください。すべての端末からログアウトされます。"
        case .changeButton: "メールアドレスを変更する"
        case .changeDoneTitle: "メールアドレスを変更しました"
        case .changeDone: "%APP_NAME% のアカウントのメールアドレスは %NEW_EMAIL% になりました。もう一度ログインしてください。"

        case .recoverTitle: "メールアドレスを元に戻す"
        case .recoverLead: "%APP_NAME% の次のアカウントのメールアドレスが変更されました。"
        case .recoverNote: "ご自身による変更でない場合は、元に戻してください。すべての端末からログアウトされます。"
        case .recoverButton: "元に戻す"
        case .recoverDoneTitle: "メールアドレスを元に戻しました"
        case .recoverDone:
            "%APP_NAME% のアカウントのメールアドレスは %EMAIL% に戻り、すべての端末からログアウトされました。"
                + "現在のパスワードは他の人に知られている可能性があります。新しいパスワードを設定してください。"

        case .revertTitle: "2 段階認証の解除"
        case .revertLead: "%APP_NAME% の次のアカウントに 2 段階認証が追加されました。"
        case .revertNote: "ご自身による追加でない場合は、解除してください。すべての端末からログアウトされます。"
        case .revertButton: "解除する"
        case .revertDoneTitle: "2 段階認証を解除しました"
        case .revertDone:
            "%APP_NAME% のアカウントの 2 段階認証は解除され、すべての端末からログアウトされました。"
                + "現在のパスワードは他の人に知られている可能性があります。新しいパスワードを設定してください。"

        case .resetTitle: "新しいパスワードの設定"
        case .resetLead: "%APP_NAME% のアカウントのパスワードを設定します。"
        case .newPassword: "新しいパスワード"
        case .resetButton: "パスワードを保存する"
        case .resetNote: "すべての端末からログアウトされます。"
        case .resetDoneTitle: "パスワードを保存しました"
        case .resetDone: "新しいパスワードで %APP_NAME% にログインできます。"
        case .passwordNeeds: "パスワードの条件："
        case .passwordLacks: "このパスワードは保存されませんでした。次の条件を満たしていません："
        case .showPassword: "表示"
        case .hidePassword: "非表示"
        case .needsLength: "%COUNT% 文字以上"
        case .needsAtMost: "%COUNT% 文字以内"
        case .needsLowercase: "英小文字（a–z）"
        case .needsUppercase: "英大文字（A–Z）"
        case .needsDigit: "数字（0–9）"
        case .needsSymbol: "記号（! や # など）"

        case .goOn: "%APP_NAME% に進む"
        case .errorCode: "エラーコード：%CODE%"

        case .expiredTitle: "リンクの有効期限が切れています"
        case .expiredAdvice: "メールのリンクには有効期限があります。アプリからもう一度メールを送信してください。"
        case .usedTitle: "このリンクは無効です"
        case .usedAdvice:
            "すでに使用されたか、新しいメールが送信されたか、アカウントが変更されています。"
                + "いま使用したばかりであれば、手続きは完了しています。そうでない場合は、アプリからもう一度メールを送信してください。"
        case .disabledTitle: "このアカウントは無効になっています"
        case .disabledAdvice: "何も変更されていません。アプリの運営者にお問い合わせください。"
        case .takenTitle: "このメールアドレスは使用されています"
        case .takenAdvice:
            "別のアカウントがこのメールアドレスを使用しているため、何も変更されていません。"
                + "そのアカウントにログインするか、アプリで別のメールアドレスを指定してください。"
        case .notOfferedTitle: "この方法は利用できません"
        case .notOfferedAdvice: "アプリは現在、このログイン方法を提供していません。別の方法でログインしてください。"
        case .tooManyTitle: "試行回数が多すぎます"
        case .tooManyAdvice: "数分待ってから、メールのリンクをもう一度開いてください。"
        case .elsewhereTitle: "このリンクの先には進めません"
        case .elsewhereAdvice: "リンク先のページがないか、アプリのものではありません。アプリからもう一度メールを送信してください。"
        case .brokenTitle: "リンクが不完全です"
        case .brokenAdvice:
            "メールのリンクをもう一度開くか、リンク全体をコピーしてください。"
                + "解決しない場合は、アプリからもう一度メールを送信してください。"
        case .failedTitle: "現在処理できません"
        case .failedAdvice: "数分後にもう一度お試しください。"

        case .deletionTitle: "データの削除"
        case .deletionDone: "このサービスが保持していたアカウントのデータは %DATE% に削除されました。"
        case .deletionUnknown: "このコードの申請はありません。"

        case .signInTitle: "ログイン"
        case .waitTitle: "少々お待ちください"
        case .waitAdvice: "ログインの続きは、連携先のサイトで行います。"
        case .waitButton: "連携先のサイトに進む"
        case .backToApp: "アプリに戻る"
        case .needsScript: "このページには JavaScript が必要です。許可してから、アプリでもう一度始めてください。"
        case .providerDoneTitle: "連携先でログインしました"
        case .providerDoneAdvice: "このウィンドウは閉じてもかまいません。"
        case .openerGoneTitle: "ログインを続けられません"
        case .openerGoneAdvice:
            "このウィンドウを開いたページが見つかりません。ウィンドウを閉じて、元のページでもう一度お試しください。"
        case .nothingKeptTitle: "ブラウザにデータを保存できません"
        case .nothingKeptAdvice:
            "ログインに必要な Cookie とサイトデータが保存されません。許可してからもう一度お試しいただくか、"
                + "別の方法でログインしてください。"
        case .flowEndedTitle: "このログインは終了しました"
        case .flowEndedAdvice:
            "時間がかかりすぎたか、すでに完了したか、別のブラウザで始められたか、連携先で完了しませんでした。"
                + "このページを閉じ、アプリでもう一度お試しください。"
        case .unknownAppTitle: "登録されていないアプリです"
        case .unknownAppAdvice:
            "ログインは行われていません。ログイン後に進むアプリが、このサービスに登録されていません。"
                + "信頼できるアプリにのみお戻りください。"
        case .cannotGoOnTitle: "ログインを開始できません"
        case .cannotGoOnAdvice:
            "アプリからの要求を処理できません。このページを閉じ、アプリでもう一度お試しください。"
                + "解決しない場合は、アプリの運営者にお問い合わせください。"
        }
    }
}
