/// A text of our pages, by what it is for.
///
/// `%NAME%` stands for a value; a test holds the languages against one another.
package enum PageText: String, Sendable, CaseIterable {
    // What a page is about
    case address, currentAddress, newAddress, formerAddress, signInMethods, secondFactor
    case methodPassword, methodEmailLink, methodPhone, methodNone, factorApp, factorSMS

    case verifyTitle, verifyLead, verifyNote, verifyButton, verifyDoneTitle, verifyDone
    case changeTitle, changeLead, changeNote, changeButton, changeDoneTitle, changeDone
    case recoverTitle, recoverLead, recoverNote, recoverButton, recoverDoneTitle, recoverDone
    case revertTitle, revertLead, revertNote, revertButton, revertDoneTitle, revertDone

    case resetTitle, resetLead, newPassword, resetButton, resetNote, resetDoneTitle, resetDone
    case passwordNeeds, passwordLacks, showPassword, hidePassword
    case needsLength, needsAtMost, needsLowercase, needsUppercase, needsDigit, needsSymbol

    case goOn, errorCode

    // Why it could not be done, and what to do then
    case expiredTitle, expiredAdvice
    case usedTitle, usedAdvice
    case disabledTitle, disabledAdvice
    case takenTitle, takenAdvice
    case notOfferedTitle, notOfferedAdvice
    case tooManyTitle, tooManyAdvice
    case elsewhereTitle, elsewhereAdvice
    case brokenTitle, brokenAdvice
    case failedTitle, failedAdvice

    case deletionTitle, deletionDone, deletionUnknown

    // On the way to a provider and back
    case signInTitle, waitTitle, waitAdvice, waitButton, backToApp, needsScript
    case providerDoneTitle, providerDoneAdvice
    case openerGoneTitle, openerGoneAdvice
    case nothingKeptTitle, nothingKeptAdvice
    case flowEndedTitle, flowEndedAdvice
    case unknownAppTitle, unknownAppAdvice
    case cannotGoOnTitle, cannotGoOnAdvice

    // The sign-in page
    case emailAddress, password, or, continueWith, startAgain, backToSignIn, signedInAdvice
    case signUpTitle, signUpButton
    case forgotTitle, forgotLead, forgotButton, mailSentTitle, mailSent
    case conflictTitle, conflictLead, conflictNote
    case factorTitle, factorAppLead, factorPhoneLead, factorSentLead, code, codeButton, sendCodeButton
    case pageOverTitle, pageOverAdvice
    case wrongPassword, invalidAddress, passwordOutdated, addressHasAccount, notLinked, tooManyTries, wrongCode
    case tookTooLong, providerCancelled, providerFailed, signUpClosed, notLetIn, otherProblem
}
