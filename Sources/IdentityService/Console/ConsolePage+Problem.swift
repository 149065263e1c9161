import HTTPTypes

extension ConsolePage {
    /// An explanation and advice in our own words: nothing from the request is repeated.
    static func problem(_ error: WireError, _ visit: ConsoleVisit?) -> ConsolePage {
        let words = words(for: error)
        var page = ConsolePage(
            words.title,
            """
            <p role="alert">\(words.advice)</p>
            <p><a class="button" href="/console">Go to the start page</a></p>
            <p class="quiet">Error code: \(error.code ?? error.statusName ?? "")</p>
            """,
            visit: visit
        )
        page.status = status(of: error)
        page.retryAfter = error.retryAfter
        return page
    }

    /// The page again, after an error that the admin can fix.
    func refusing(_ error: any Error, _ alert: HTML) -> RefusedPage {
        var page = self
        page.status = Self.status(of: WireError(mapping: error))
        page.alert = alert
        return RefusedPage(cause: error, response: page.response())
    }

    /// On a page, 429 is more useful than the 400 that SDKs expect.
    static func status(of error: WireError) -> HTTPResponse.Status {
        error.code == "TOO_MANY_ATTEMPTS_TRY_LATER" ? .tooManyRequests : error.status
    }

    private static func words(for error: WireError) -> (title: String, advice: String) {
        switch error.status {
        case .forbidden where error == .foreignForm:
            (
                "This form has expired",
                "Nothing was changed. The form belongs to another session. Reload the page and try again."
            )
        case .forbidden:
            ("Permission denied", "Your scopes do not allow this. Ask the operator to change them.")
        case .notFound: ("Not found", "This project, tenant, account or page does not exist.")
        case .conflict:
            ("Changed in the meantime", "Nothing was changed. Reload the page to see the current state.")
        case .serviceUnavailable:
            (
                "Service unavailable",
                "The database does not respond, or the service is overloaded. No restart is needed. Reload this page in "
                    + "a moment."
            )
        case let status where status.kind == .serverError:
            ("Something went wrong", "See the service's log for this response's request ID.")
        default:
            switch error.code {
            case "TOO_MANY_ATTEMPTS_TRY_LATER": ("Too many attempts", "Try again in half an hour.")
            case "USER_NOT_FOUND": ("Not found", "This account no longer exists.")
            case "OPERATION_NOT_ALLOWED":
                ("Not possible here", "Set http.publicURL first.")
            default: ("Invalid request", "Nothing was changed. Open the page again and try again.")
            }
        }
    }
}
