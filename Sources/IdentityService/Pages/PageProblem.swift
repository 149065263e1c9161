import HTTPTypes

/// An error whose response is a page, created where the language and the project are known.
struct RefusedPage: Error {
    /// For the log.
    var cause: any Error
    var response: Response
}

extension PageContext {
    /// An explanation and advice in our own words: nothing from the request is repeated.
    func problem(_ error: WireError) -> Page { problem(error, Self.words(for: error)) }

    /// - Parameter more: links below the advice.
    func problem(
        _ error: WireError,
        _ words: (title: PageText, advice: PageText),
        _ more: () -> HTML? = { nil }
    ) -> Page {
        let code = error.code ?? error.statusName ?? ""
        var page = page(
            words.title,
            """
            <p role="alert">\(html: html(words.advice))</p>
            \(html: more())
            <p class="code">\(html: html(.errorCode, ["CODE": code]))</p>
            """
        )
        page.status = error.status
        page.retryAfter = error.retryAfter
        return page
    }

    private static func words(for error: WireError) -> (title: PageText, advice: PageText) {
        switch error.code {
        case "EXPIRED_OOB_CODE": (.expiredTitle, .expiredAdvice)
        case "INVALID_OOB_CODE", "USER_NOT_FOUND": (.usedTitle, .usedAdvice)
        case "USER_DISABLED": (.disabledTitle, .disabledAdvice)
        case "EMAIL_EXISTS": (.takenTitle, .takenAdvice)
        case "OPERATION_NOT_ALLOWED", "PASSWORD_LOGIN_DISABLED": (.notOfferedTitle, .notOfferedAdvice)
        case "TOO_MANY_ATTEMPTS_TRY_LATER": (.tooManyTitle, .tooManyAdvice)
        case "MISSING_CONTINUE_URI", "INVALID_CONTINUE_URI", "UNAUTHORIZED_DOMAIN": (.elsewhereTitle, .elsewhereAdvice)
        case _ where error.status.kind == .serverError: (.failedTitle, .failedAdvice)
        default: (.brokenTitle, .brokenAdvice)
        }
    }
}
