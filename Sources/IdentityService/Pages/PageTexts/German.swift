// `E‑Mail` has a non-breaking hyphen (U+2011).

extension PageText {
    var german: String {
        switch self {
        case .address: "Adresse"
        case .currentAddress: "Adresse jetzt"
        case .newAddress: "Neue Adresse"
        case .formerAddress: "Adresse, die zurückkommt"
        case .signInMethods: "Anmeldung mit"
        case .secondFactor: "Zweiter Faktor"
        case .methodPassword: "Passwort"
        case .methodEmailLink: "Link per E‑Mail"
        case .methodPhone: "Telefonnummer"
        case .methodNone: "Noch nichts"
        case .factorApp: "Authenticator-App"
        case .factorSMS: "SMS an %NUMBER%"

        case .verifyTitle: "E‑Mail-Adresse bestätigen"
        case .verifyLead: "Mit Ihrer Adresse wurde bei %APP_NAME% dieses Konto eröffnet:"
        case .verifyNote:
            "Bestätigen Sie nur, wenn Sie das waren: Wer das Konto eröffnet hat, nutzt es weiter wie bisher."
        case .verifyButton: "Adresse bestätigen"
        case .verifyDoneTitle: "Adresse bestätigt"
        case .verifyDone: "%EMAIL% ist jetzt die bestätigte Adresse Ihres Kontos bei %APP_NAME%."

        case .changeTitle: "E‑Mail-Adresse ändern"
        case .changeLead: "Dieses Konto bei %APP_NAME% bekommt eine andere Adresse:"
        case .changeNote: "Fahren Sie nur fort, wenn es Ihr Konto ist. Alle Geräte werden abgemeldet."
        case .changeButton: "Adresse ändern"
        case .changeDoneTitle: "Adresse geändert"
        case .changeDone: "Ihr Konto bei %APP_NAME% hat jetzt die Adresse %NEW_EMAIL%. Bitte melden Sie sich neu an."

        case .recoverTitle: "Adresse zurückholen"
        case .recoverLead: "Die Adresse dieses Kontos bei %APP_NAME% wurde geändert:"
        case .recoverNote: "Wenn Sie das nicht waren, machen Sie es rückgängig. Alle Geräte werden abgemeldet."
        case .recoverButton: "Rückgängig machen"
        case .recoverDoneTitle: "Ihre Adresse ist zurück"
        case .recoverDone:
            "Ihr Konto bei %APP_NAME% hat wieder die Adresse %EMAIL%, und alle Geräte sind abgemeldet. Legen "
                + "Sie jetzt ein neues Passwort fest: Das jetzige kennt vielleicht jemand anderes."

        case .revertTitle: "Zweiten Faktor entfernen"
        case .revertLead: "Dieses Konto bei %APP_NAME% bekam einen zweiten Faktor:"
        case .revertNote: "Wenn Sie das nicht waren, entfernen Sie ihn. Alle Geräte werden abgemeldet."
        case .revertButton: "Entfernen"
        case .revertDoneTitle: "Zweiter Faktor entfernt"
        case .revertDone:
            "Ihr Konto bei %APP_NAME% fragt nicht mehr danach, und alle Geräte sind abgemeldet. Legen Sie jetzt "
                + "ein neues Passwort fest: Das jetzige kennt vielleicht jemand anderes."

        case .resetTitle: "Neues Passwort festlegen"
        case .resetLead: "Für Ihr Konto bei %APP_NAME%."
        case .newPassword: "Neues Passwort"
        case .resetButton: "Passwort speichern"
        case .resetNote: "Alle Geräte werden abgemeldet."
        case .resetDoneTitle: "Passwort gespeichert"
        case .resetDone: "Sie können sich jetzt mit dem neuen Passwort bei %APP_NAME% anmelden."
        case .passwordNeeds: "Anforderungen an das Passwort:"
        case .passwordLacks: "Dieses Passwort wurde nicht gespeichert. Es fehlt noch:"
        case .showPassword: "Anzeigen"
        case .hidePassword: "Verbergen"
        case .needsLength: "mindestens %COUNT% Zeichen"
        case .needsAtMost: "höchstens %COUNT% Zeichen"
        case .needsLowercase: "ein Kleinbuchstabe (a–z)"
        case .needsUppercase: "ein Großbuchstabe (A–Z)"
        case .needsDigit: "eine Ziffer (0–9)"
        case .needsSymbol: "ein Sonderzeichen, etwa ! oder #"

        case .goOn: "Weiter zu %APP_NAME%"
        case .errorCode: "Fehlercode: %CODE%"

        case .expiredTitle: "Dieser Link ist zu alt"
        case .expiredAdvice: "Links aus E‑Mails gelten eine begrenzte Zeit. Fordern Sie in der App eine neue E‑Mail an."
        case .usedTitle: "Dieser Link gilt nicht mehr"
        case .usedAdvice:
            "Er wurde schon benutzt, eine neuere E‑Mail hat ihn ersetzt, oder das Konto hat sich seither "
                + "geändert. Wenn Sie ihn gerade benutzt haben, ist alles erledigt. Sonst fordern Sie in der App eine neue "
                + "E‑Mail an."
        case .disabledTitle: "Dieses Konto ist gesperrt"
        case .disabledAdvice: "Es wurde nichts geändert. Fragen Sie die Betreiber der App."
        case .takenTitle: "Diese Adresse ist vergeben"
        case .takenAdvice:
            "Inzwischen hat ein anderes Konto die Adresse, deshalb wurde nichts geändert. Melden Sie sich in "
                + "jenem Konto an, oder wählen Sie in der App eine andere Adresse."
        case .notOfferedTitle: "Das wird nicht angeboten"
        case .notOfferedAdvice:
            "Die App bietet diese Art der Anmeldung zurzeit nicht an. Melden Sie sich auf anderem Weg an."
        case .tooManyTitle: "Zu viele Versuche"
        case .tooManyAdvice: "Warten Sie einige Minuten und öffnen Sie dann den Link der E‑Mail noch einmal."
        case .elsewhereTitle: "Dieser Link führt nicht weiter"
        case .elsewhereAdvice:
            "Die Seite, zu der er führen soll, fehlt oder gehört nicht zur App. Fordern Sie in der App eine "
                + "neue E‑Mail an."
        case .brokenTitle: "Dieser Link ist nicht vollständig"
        case .brokenAdvice:
            "Öffnen Sie ihn noch einmal in der E‑Mail, oder kopieren Sie ihn ganz. Wenn das nicht hilft, "
                + "fordern Sie in der App eine neue E‑Mail an."
        case .failedTitle: "Das geht gerade nicht"
        case .failedAdvice: "Bitte versuchen Sie es in einigen Minuten noch einmal."

        case .deletionTitle: "Löschung Ihrer Daten"
        case .deletionDone: "Was dieser Dienst von Ihrem Konto hatte, wurde am %DATE% gelöscht."
        case .deletionUnknown: "Es gibt keine Anfrage mit diesem Code."

        case .signInTitle: "Anmelden"
        case .waitTitle: "Einen Moment …"
        case .waitAdvice: "Die Anmeldung geht beim Anbieter weiter."
        case .waitButton: "Zum Anbieter"
        case .backToApp: "Zurück zur App"
        case .needsScript: "Diese Seite braucht JavaScript. Erlauben Sie es und beginnen Sie in der App noch einmal."
        case .providerDoneTitle: "Beim Anbieter angemeldet"
        case .providerDoneAdvice: "Sie können dieses Fenster schließen."
        case .openerGoneTitle: "Die Anmeldung kann nicht weitergehen"
        case .openerGoneAdvice:
            "Die Seite, die dieses Fenster geöffnet hat, ist fort oder nicht erreichbar. Schließen Sie dieses Fenster und "
                + "versuchen Sie es dort noch einmal."
        case .nothingKeptTitle: "Dieser Browser behält nichts"
        case .nothingKeptAdvice:
            "Er speichert weder Cookies noch Daten dieser Seite, die für die Anmeldung nötig sind. Erlauben Sie es und "
                + "versuchen Sie es noch einmal, oder melden Sie sich auf anderem Weg an."
        case .flowEndedTitle: "Diese Anmeldung ist beendet"
        case .flowEndedAdvice:
            "Sie hat zu lange gedauert, war schon fertig, wurde in einem anderen Browser begonnen, oder der Anbieter hat sie "
                + "nicht abgeschlossen. Schließen Sie diese Seite und versuchen Sie es in der App noch einmal."
        case .unknownAppTitle: "Diese App ist hier nicht bekannt"
        case .unknownAppAdvice:
            "Niemand wurde angemeldet: Die App, zu der die Anmeldung führen soll, gehört nicht zu diesem Dienst. Gehen Sie "
                + "nur zu Apps zurück, denen Sie vertrauen."
        case .cannotGoOnTitle: "Die Anmeldung kann nicht beginnen"
        case .cannotGoOnAdvice:
            "Die App hat etwas verlangt, das nicht geht. Schließen Sie diese Seite und versuchen Sie es in der App noch "
                + "einmal. Wenn das nicht hilft, fragen Sie die Betreiber der App."

        case .emailAddress: "E‑Mail-Adresse"
        case .password: "Passwort"
        case .or: "oder"
        case .continueWith: "Weiter mit %PROVIDER%"
        case .startAgain: "Von vorn beginnen"
        case .backToSignIn: "Zurück zur Anmeldung"
        case .signedInAdvice: "Sie sind angemeldet."
        case .signUpTitle: "Konto anlegen"
        case .signUpButton: "Das Konto anlegen"
        case .forgotTitle: "Passwort vergessen?"
        case .forgotLead: "Wir schicken Ihnen eine E‑Mail mit einem Link, über den Sie ein neues setzen."
        case .forgotButton: "E‑Mail schicken"
        case .mailSentTitle: "Sehen Sie in Ihr Postfach"
        case .mailSent:
            "Wenn ein Konto die Adresse %EMAIL% hat, ist eine E‑Mail mit einem Link unterwegs. Setzen "
                + "Sie dort ein neues Passwort und melden Sie sich dann hier an."
        case .emailCodeTitle: "Code per E‑Mail"
        case .emailCodeLead: "Wir schicken Ihnen eine E‑Mail mit einem Code, mit dem Sie sich anmelden."
        case .emailCodeButton: "Code schicken"
        case .emailCodeSent: "Wir haben einen Code an %EMAIL% geschickt. Geben Sie ihn innerhalb von zehn Minuten ein."
        case .emailCodeAgain: "Neuen Code schicken"
        case .emailCodeOver:
            "Dieser Code ist zu alt, oder es gab zu viele Versuche. Lassen Sie sich einen neuen schicken."
        case .conflictTitle: "Sie haben schon ein Konto"
        case .conflictLead:
            "Bei %APP_NAME% gibt es ein Konto mit Ihrer Adresse %EMAIL%, in dem Sie sich bisher auf "
                + "anderem Weg angemeldet haben."
        case .conflictNote:
            "Melden Sie sich noch einmal auf jenem Weg an. Dann kommt %PROVIDER% hinzu, und von da an "
                + "geht beides."
        case .factorTitle: "Noch ein Schritt"
        case .factorAppLead: "Geben Sie den Code ein, den Ihre Authenticator-App zeigt."
        case .factorPhoneLead: "Wir schicken einen Code an Ihr Telefon."
        case .factorSentLead: "Geben Sie den Code ein, der an %NUMBER% ging."
        case .code: "Bestätigungscode"
        case .codeButton: "Bestätigen"
        case .sendCodeButton: "Code an %NUMBER% schicken"
        case .passkeyButton: "Mit einem Passkey anmelden"
        case .passkeyProblem: "Es wurde kein Passkey benutzt. Versuchen Sie es noch einmal oder auf anderem Weg."
        case .passkeyUnknown:
            "Diesen Passkey hat kein Konto; vielleicht wurde er entfernt. Nehmen Sie einen anderen Weg."
        case .passkeyRefused:
            "Dieser Passkey wurde nicht angenommen. Versuchen Sie es noch einmal oder auf anderem Weg."
        case .offerTitle: "Künftig ohne Passwort anmelden"
        case .offerLead:
            "Legen Sie einen Passkey an. Dann melden Sie sich bei %APP_NAME% mit Fingerabdruck, Gesicht oder "
                + "Bildschirmsperre an."
        case .offerNote:
            "Ein Passkey lässt sich nicht erraten und keiner falschen Seite verraten. Ihr Passwort gilt weiter."
        case .offerButton: "Passkey anlegen"
        case .notNow: "Jetzt nicht"
        case .passkeysTitle: "Ihre Passkeys"
        case .passkeysLead: "Mit diesen Passkeys können Sie sich bei %APP_NAME% anmelden."
        case .passkeysNone: "Sie haben noch keinen Passkey für %APP_NAME%."
        case .passkeyUnnamed: "Ein Passkey"
        case .passkeyBrowser: "%BROWSER% (%PLATFORM%)"
        case .passkeyDates: "Angelegt am %DATE%, zuletzt benutzt am %USED%"
        case .passkeyUnused: "Angelegt am %DATE%, noch nie benutzt"
        case .passkeyAdd: "Passkey hinzufügen"
        case .passkeyRemove: "Entfernen"
        case .passkeyLast: "Nur mit diesem Passkey können Sie sich noch anmelden. Fügen Sie erst einen anderen hinzu."
        case .passkeysDone: "Fertig"
        case .pageOverTitle: "Diese Seite gilt nicht mehr"
        case .pageOverAdvice:
            "Sie war zu lange offen, oder dieser Browser behält ihre Cookies nicht, an denen sie Sie "
                + "wiedererkennt. Erlauben Sie Cookies und beginnen Sie von vorn."
        case .wrongPassword: "Die Adresse oder das Passwort ist falsch."
        case .invalidAddress: "Das ist keine E‑Mail-Adresse."
        case .passwordOutdated:
            "Dieses Passwort genügt den Regeln der App nicht mehr. Setzen Sie über „Passwort vergessen?“ "
                + "ein neues."
        case .passwordLeaked: "Dieses Passwort ist durch ein Datenleck bekannt. Wählen Sie ein anderes."
        case .addressHasAccount:
            "Es gibt schon ein Konto mit dieser Adresse. Gehen Sie zurück und melden Sie sich dort an."
        case .notLinked:
            "Es wurde nichts hinzugefügt: Sie haben sich in einem anderen Konto als dem von %EMAIL% "
                + "angemeldet, oder was hinzukommen soll, gehört zu einem anderen Konto."
        case .tooManyTries: "Zu viele Versuche. Warten Sie einige Minuten und versuchen Sie es dann noch einmal."
        case .wrongCode: "Dieser Code ist falsch oder wurde schon benutzt."
        case .captchaFailed:
            "Wir konnten nicht feststellen, dass Sie ein Mensch sind. Lösen Sie die Aufgabe und versuchen Sie es noch einmal."
        case .tookTooLong: "Das hat zu lange gedauert. Bitte melden Sie sich noch einmal an."
        case .providerCancelled:
            "Sie wurden dort nicht angemeldet. Versuchen Sie es noch einmal, oder wählen Sie einen "
                + "anderen Weg."
        case .providerFailed:
            "Der Anbieter hat die Anmeldung nicht abgeschlossen. Versuchen Sie es noch einmal, oder "
                + "wählen Sie einen anderen Weg."
        case .signUpClosed: "Hier werden keine neuen Konten angelegt."
        case .notLetIn: "Die App lässt Sie nicht ein."
        case .otherProblem: "Das ging nicht. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg."
        }
    }
}
