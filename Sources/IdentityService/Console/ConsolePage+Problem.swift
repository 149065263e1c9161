import HTTPTypes

extension ConsolePage {
    /// What is wrong and what to do then, in words of ours: nothing that came with the request is repeated.
    static func problem(_ error: WireError, _ visit: ConsoleVisit?) -> ConsolePage {
        let words = words(for: error)
        var page = ConsolePage(
            words.title,
            """
            <p role="alert">\(words.advice)</p>
            <p><a class="button" href="/console">Go to the first page</a></p>
            <p class="quiet">Error code: \(error.code ?? error.statusName ?? "")</p>
            """,
            visit: visit
        )
        page.status = status(of: error)
        page.retryAfter = error.retryAfter
        return page
    }

    /// 429 says more to whoever looks at the console than the 400 that SDKs know.
    static func status(of error: WireError) -> HTTPResponse.Status {
        error.code == "TOO_MANY_ATTEMPTS_TRY_LATER" ? .tooManyRequests : error.status
    }

    private static func words(for error: WireError) -> (title: String, advice: String) {
        switch error.status {
        case .forbidden where error == .foreignForm:
            (
                "This form is out of date",
                "Nothing was changed. The form was made for another session: open the page again, and repeat it there."
            )
        case .forbidden:
            ("You may not see this", "Your scopes do not cover it. Whoever made your account can change that.")
        case .notFound: ("Not found", "There is no such project, tenant, account or page.")
        case .conflict:
            ("Somebody else was faster", "Nothing was changed. Open the page again: it is no longer as you saw it.")
        case .serviceUnavailable:
            (
                "The service cannot answer just now",
                "Its database does not answer, or it is overloaded. Nothing has to be started again: reload this page in a "
                    + "moment."
            )
        case let status where status.kind == .serverError:
            ("Something went wrong", "The service's log has more, under the request id of this answer.")
        default:
            switch error.code {
            case "TOO_MANY_ATTEMPTS_TRY_LATER": ("Too many attempts", "Try again in half an hour.")
            case "USER_NOT_FOUND": ("Not found", "There is no such account any more.")
            case "OPERATION_NOT_ALLOWED":
                ("Not possible here", "The service does not know its own address: set http.publicURL.")
            default: ("This could not be read", "The request is not one of our pages'. Nothing was changed.")
            }
        }
    }
}
