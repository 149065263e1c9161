import Federation
import HTTPTypes

/// The handler page, which web and native SDKs open for a sign-in at a provider, in each of its states.
struct HandlerPage: Sendable {
    var context: PageContext
    /// Shown until the script continues, or if it has to stay.
    var progress: HTML
    /// Shown if the script finds this problem.
    var fault: HandlerFault?
    var status: HTTPResponse.Status = .ok
    var retryAfter: Int?
    var cookies: [Cookie] = []
    /// The script's task; nil for a page that stays.
    var data: JSONWriter?

    /// The sign-in ends here, and only the user is told.
    static func ended(_ fault: HandlerFault, _ context: PageContext) -> HandlerPage {
        HandlerPage(
            context: context,
            progress: explanation(of: fault, context),
            status: fault.status,
            retryAfter: fault.retryAfter
        )
    }

    /// Sends the browser to the provider.
    static func start(authURI: String, data: JSONWriter, cookies: [Cookie], _ context: PageContext) -> HandlerPage {
        let link: HTML = "<p><a class=\"button\" href=\"\(authURI)\">\(html: context.html(.waitButton))</a></p>"
        return HandlerPage(
            context: context,
            progress: section(context, .waitTitle, .waitAdvice, link),
            cookies: cookies,
            data: data
        )
    }

    /// Lets the script read from the address or storage what the server cannot see.
    static func look(data: JSONWriter, or fault: HandlerFault, _ context: PageContext) -> HandlerPage {
        HandlerPage(context: context, progress: waiting(context), fault: fault, data: data)
    }

    /// Delivers the result.
    static func deliver(
        _ event: AuthEvent,
        data: JSONWriter,
        link: String?,
        cookies: [Cookie],
        _ context: PageContext
    ) -> HandlerPage {
        let back: HTML? = link.map { link in
            """
            <h1>\(context.text(.waitTitle))</h1>
            <p><a class="button" href="\(link)">\(html: context.html(.backToApp))</a></p>
            """
        }
        return HandlerPage(
            context: context,
            progress: back ?? waiting(context),
            status: event.fault?.status ?? .ok,
            cookies: cookies,
            data: data
        )
    }

    /// A request without parameters, or a HEAD request.
    static func idle(_ context: PageContext) -> HandlerPage {
        HandlerPage(context: context, progress: waiting(context))
    }

    func response() -> Response {
        var sections: [HTML] = ["<section id=\"progress\">\(html: progress)</section>"]
        if let fault {
            sections.append("<section id=\"failure\" hidden>\(html: Self.explanation(of: fault, context))</section>")
        }
        if data != nil { sections.append(Self.ends(context)) }
        var page = context.page(titled: .signInTitle, "\(html: sections)")
        page.status = status
        page.retryAfter = retryAfter
        if let data {
            page.data = data.text
            page.script = PageFiles.handlerScript
        }
        page.cookies = cookies
        var response = page.response()
        // The window's opener is waiting for it.
        response.headers[.crossOriginOpenerPolicy] = "unsafe-none"
        return response
    }

    // MARK: Parts

    private static func section(
        _ context: PageContext,
        _ title: PageText,
        _ advice: PageText,
        _ more: HTML? = nil
    ) -> HTML {
        "<h1>\(context.text(title))</h1>\n<p>\(html: context.html(advice))</p>\n\(html: more)"
    }

    private static func waiting(_ context: PageContext) -> HTML {
        """
        <h1>\(context.text(.waitTitle))</h1>
        <noscript><p>\(html: context.html(.needsScript))</p></noscript>
        """
    }

    /// The user's text, and one line for the app's developer.
    private static func explanation(of fault: HandlerFault, _ context: PageContext) -> HTML {
        let words = fault.words
        let detail: HTML? =
            fault.status.kind == .serverError ? nil : "<p class=\"code\" lang=\"en\">\(fault.text)</p>"
        return """
            <h1>\(context.text(words.title))</h1>
            <p role="alert">\(html: context.html(words.advice))</p>
            \(html: detail)
            <p class="code">\(html: context.html(.errorCode, ["CODE": "auth/\(fault.code)"]))</p>
            """
    }

    /// The sections that the script may show at the end.
    private static func ends(_ context: PageContext) -> HTML {
        let code: HTML =
            "<p class=\"code\">\(html: context.html(.errorCode, ["CODE": "auth/web-storage-unsupported"]))</p>"
        return """
            <section id="done" hidden>\(html: section(context, .providerDoneTitle, .providerDoneAdvice))</section>
            <section id="lost" hidden>\(html: section(context, .openerGoneTitle, .openerGoneAdvice))</section>
            <section id="blocked" hidden>\(html: section(context, .nothingKeptTitle, .nothingKeptAdvice, code))</section>
            """
    }
}
