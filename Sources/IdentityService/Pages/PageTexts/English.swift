extension PageText {
    var english: String {
        switch self {
        case .address: "Address"
        case .currentAddress: "Address now"
        case .newAddress: "New address"
        case .formerAddress: "Address that comes back"
        case .signInMethods: "Ways to sign in"
        case .secondFactor: "Second factor"
        case .methodPassword: "Password"
        case .methodEmailLink: "Link by email"
        case .methodPhone: "Phone number"
        case .methodNone: "None yet"
        case .factorApp: "Authenticator app"
        case .factorSMS: "SMS to %NUMBER%"

        case .verifyTitle: "Confirm your email address"
        case .verifyLead: "Somebody opened this account at %APP_NAME% with your address:"
        case .verifyNote: "Confirm only if it was you: whoever opened the account goes on using it as before."
        case .verifyButton: "Confirm the address"
        case .verifyDoneTitle: "Address confirmed"
        case .verifyDone: "%EMAIL% is now the confirmed address of your account at %APP_NAME%."

        case .changeTitle: "Change your email address"
        case .changeLead: "This account at %APP_NAME% gets another address:"
        case .changeNote: "Go on only if the account is yours. All devices will be signed out."
        case .changeButton: "Change the address"
        case .changeDoneTitle: "Address changed"
        case .changeDone: "From now on %NEW_EMAIL% is the address of your account at %APP_NAME%. Please sign in again."

        case .recoverTitle: "Bring your address back"
        case .recoverLead: "The address of this account at %APP_NAME% was changed:"
        case .recoverNote: "If that was not you, change it back. All devices will be signed out."
        case .recoverButton: "Change it back"
        case .recoverDoneTitle: "Your address is back"
        case .recoverDone:
            "%EMAIL% is the address of your account at %APP_NAME% again, and all devices are signed out. "
                + "Set a new password now: somebody else may know the present one."

        case .revertTitle: "Remove the second factor"
        case .revertLead: "A second factor was added to this account at %APP_NAME%:"
        case .revertNote: "If that was not you, remove it. All devices will be signed out."
        case .revertButton: "Remove it"
        case .revertDoneTitle: "Second factor removed"
        case .revertDone:
            "Your account at %APP_NAME% no longer asks for it, and all devices are signed out. Set a new "
                + "password now: somebody else may know the present one."

        case .resetTitle: "Set a new password"
        case .resetLead: "For your account at %APP_NAME%."
        case .newPassword: "New password"
        case .resetButton: "Save the password"
        case .resetNote: "All devices will be signed out."
        case .resetDoneTitle: "Password saved"
        case .resetDone: "You can now sign in to %APP_NAME% with your new password."
        case .passwordNeeds: "The password needs:"
        case .passwordLacks: "This password was not saved. It still needs:"
        case .showPassword: "Show"
        case .hidePassword: "Hide"
        case .needsLength: "at least %COUNT% characters"
        case .needsAtMost: "at most %COUNT% characters"
        case .needsLowercase: "a lower-case letter (a–z)"
        case .needsUppercase: "an upper-case letter (A–Z)"
        case .needsDigit: "a digit (0–9)"
        case .needsSymbol: "a special character, such as ! or #"

        case .goOn: "Continue to %APP_NAME%"
        case .errorCode: "Error code: %CODE%"

        case .expiredTitle: "This link is too old"
        case .expiredAdvice: "Links of mails work for a limited time. Ask for a new mail in the app."
        case .usedTitle: "This link does not work any more"
        case .usedAdvice:
            "It was used already, a newer mail took its place, or the account has changed since. If you have "
                + "just used it, everything is done. Otherwise ask for a new mail in the app."
        case .disabledTitle: "This account is disabled"
        case .disabledAdvice: "Nothing was changed. Ask those who run the app."
        case .takenTitle: "This address is taken"
        case .takenAdvice:
            "By now another account has the address, so nothing was changed. Sign in to that account, or choose "
                + "another address in the app."
        case .notOfferedTitle: "This is not offered"
        case .notOfferedAdvice: "The app does not offer this way to sign in at present. Sign in another way."
        case .tooManyTitle: "Too many tries"
        case .tooManyAdvice: "Wait for some minutes, then open the link of the mail again."
        case .elsewhereTitle: "This link goes no further"
        case .elsewhereAdvice:
            "The page that it should lead to is missing, or does not belong to the app. Ask for a new mail in "
                + "the app."
        case .brokenTitle: "This link is not complete"
        case .brokenAdvice:
            "Open it in the mail once more, or copy all of it. If that does not help, ask for a new mail in the "
                + "app."
        case .failedTitle: "This does not work at the moment"
        case .failedAdvice: "Please try again in a few minutes."

        case .deletionTitle: "Deletion of your data"
        case .deletionDone: "What this service had from your account was deleted on %DATE%."
        case .deletionUnknown: "There is no request of that code."

        case .signInTitle: "Sign in"
        case .waitTitle: "One moment …"
        case .waitAdvice: "The sign-in goes on at the provider."
        case .waitButton: "Go to the provider"
        case .backToApp: "Back to the app"
        case .needsScript: "This page needs JavaScript. Allow it and start again in the app."
        case .providerDoneTitle: "Signed in at the provider"
        case .providerDoneAdvice: "You can close this window."
        case .openerGoneTitle: "The sign-in cannot go on"
        case .openerGoneAdvice:
            "The page that opened this window is gone or out of reach. Close this window and try again there."
        case .nothingKeptTitle: "This browser keeps nothing"
        case .nothingKeptAdvice:
            "It keeps neither cookies nor data of this page, which the sign-in needs. Allow them and try again, or choose "
                + "another way to sign in."
        case .flowEndedTitle: "This sign-in has ended"
        case .flowEndedAdvice:
            "It took too long, was finished already, was begun in another browser, or the provider did not finish it. "
                + "Close this page, go back to the app and try again."
        case .unknownAppTitle: "This app is not known here"
        case .unknownAppAdvice:
            "Nobody was signed in: the app to which the sign-in should lead does not belong to this service. Go back only "
                + "to apps that you trust."
        case .cannotGoOnTitle: "The sign-in cannot begin"
        case .cannotGoOnAdvice:
            "The app has asked for something that does not work. Close this page, go back to the app and try again. If "
                + "that does not help, tell those who run the app."
        }
    }
}
