import Federation
import HTTPTypes

/// The page that web and native SDKs open for a sign-in at a provider, in each of its states.
struct HandlerPage: Sendable {
    var context: PageContext
    /// What it shows until its script has gone on, or has to stay.
    var progress: HTML
    /// What keeps it from going on, shown when the script finds that.
    var fault: HandlerFault?
    var status: HTTPResponse.Status = .ok
    var retryAfter: Int?
    var cookies: [Cookie] = []
    /// What the script is to do; nil for a page that stays.
    var data: JSONWriter?

    /// The sign-in ends here, and nobody is told but the person.
    static func ended(_ fault: HandlerFault, _ context: PageContext) -> HandlerPage {
        HandlerPage(
            context: context,
            progress: explanation(of: fault, context),
            status: fault.status,
            retryAfter: fault.retryAfter
        )
    }

    /// Leaves for the provider.
    static func start(authURI: String, data: JSONWriter, cookie: Cookie, _ context: PageContext) -> HandlerPage {
        let link: HTML = "<p><a class=\"button\" href=\"\(authURI)\">\(html: context.html(.waitButton))</a></p>"
        return HandlerPage(
            context: context,
            progress: section(context, .waitTitle, .waitAdvice, link),
            cookies: [cookie],
            data: data
        )
    }

    /// Looks at its own address or storage for what the server cannot see.
    static func look(data: JSONWriter, or fault: HandlerFault, _ context: PageContext) -> HandlerPage {
        HandlerPage(context: context, progress: waiting(context), fault: fault, data: data)
    }

    /// Brings the result where it belongs.
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

    /// Nobody asked for anything, or only for what a page would be like.
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
        // The window's opener waits for it.
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

    /// In the reader's words, and in one line for those who make the app.
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

    /// Where the script may have to leave a person.
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
