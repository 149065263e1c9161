/// A text of our pages, by its purpose.
///
/// `%NAME%` is a placeholder for a value; a test compares the languages with one another.
package enum PageText: String, Sendable, CaseIterable {
    // The subject of a page
    case address, currentAddress, newAddress, formerAddress, signInMethods, secondFactor
    case methodPassword, methodEmailLink, methodPhone, methodPasskey, methodCustom, methodNone, factorApp, factorSMS

    case verifyTitle, verifyLead, verifyNote, verifyButton, verifyDoneTitle, verifyDone
    case changeTitle, changeLead, changeNote, changeButton, changeDoneTitle, changeDone
    case recoverTitle, recoverLead, recoverNote, recoverButton, recoverDoneTitle, recoverDone
    case revertTitle, revertLead, revertNote, revertButton, revertDoneTitle, revertDone

    case resetTitle, resetLead, newPassword, resetButton, resetNote, resetDoneTitle, resetDone
    case passwordNeeds, passwordLacks, showPassword, hidePassword
    case needsLength, needsAtMost, needsLowercase, needsUppercase, needsDigit, needsSymbol

    case goOn, errorCode

    // Why an action failed, and advice
    case expiredTitle, expiredAdvice, expiredAgain, expiredButton, expiredSent
    case usedTitle, usedAdvice
    case disabledTitle, disabledAdvice
    case takenTitle, takenAdvice, lostAdvice
    case notOfferedTitle, notOfferedAdvice
    case tooManyTitle, tooManyAdvice
    case elsewhereTitle, elsewhereAdvice
    case brokenTitle, brokenAdvice
    case failedTitle, failedAdvice

    case deletionTitle, deletionDone, deletionUnknown

    // The provider sign-in
    case signInTitle, waitTitle, waitAdvice, waitButton, backToApp, needsScript
    case providerDoneTitle, providerDoneAdvice
    case openerGoneTitle, openerGoneAdvice
    case nothingKeptTitle, nothingKeptAdvice
    case flowEndedTitle, flowEndedAdvice
    case unknownAppTitle, unknownAppAdvice, silentAppAdvice
    case cannotGoOnTitle, cannotGoOnAdvice

    // The hosted sign-in page
    case emailAddress, password, or, continueWith, startAgain, backToSignIn, signedInAdvice
    case signUpTitle, signUpButton
    case forgotTitle, forgotLead, forgotButton, mailSentTitle, mailSent
    case emailCodeTitle, emailCodeLead, emailCodeButton, emailCodeSent, emailCodeAgain, emailCodeOver
    case conflictTitle, conflictLead, conflictNote
    case factorTitle, factorAppLead, factorPasskeyLead, factorPhoneLead, factorSentLead, code, codeButton,
        sendCodeButton
    case passkeyButton, passkeyProblem, passkeyUnknown, passkeyRefused
    case offerTitle, offerLead, offerNote, offerButton, notNow
    case passkeysTitle, passkeysLead, passkeysNone, passkeyUnnamed, passkeyBrowser, passkeyDates, passkeyUnused
    case passkeyAdd, passkeyRemove, passkeyLast, passkeysDone
    // Another application
    case consentTitle, consentLead, consentAccount, consentGoesTo, consentResource, consentScopes, consentNote
    case consentOrigin, consentByAdmin, consentByItself, consentByHost
    case consentAllow, consentDeny, consentOther, consentPolicy, consentTerms
    case accessRefusedTitle, accessRefused
    case deviceTitle, deviceLead, deviceCode, deviceUnknown, deviceNote
    case deviceDoneTitle, deviceDone, deviceRefusedTitle, deviceRefused
    case logoutTitle, logoutLead, logoutButton, logoutDoneTitle, logoutDone
    case grantsTitle, grantsLead, grantsNone, grantDates, grantsWithdraw
    case scopeOpenID, scopeProfile, scopeEmail, scopePhone, scopeOffline

    case pageOverTitle, pageOverAdvice
    case wrongPassword, invalidAddress, passwordOutdated, passwordLeaked, addressHasAccount, notLinked, tooManyTries,
        wrongCode, captchaFailed, personTitle, personButton
    case tookTooLong, providerCancelled, providerFailed, signUpClosed, notLetIn, otherProblem
}
