import Federation
import HTTPTypes

/// The page that web and native SDKs open for a sign-in at a provider, in each of its states.
struct HandlerPage: Sendable {
    /// What it shows until its script has gone on, or has to stay.
    var progress: HTML
    /// What keeps it from going on, shown when the script finds that.
    var fault: HandlerFault?
    var status: HTTPResponse.Status = .ok
    var cookies: [Cookie] = []
    /// What the script is to do; nil for a page that stays.
    var data: JSONWriter?

    /// The sign-in ends here, and nobody is told but the person.
    static func ended(_ fault: HandlerFault) -> HandlerPage {
        HandlerPage(progress: explanation(of: fault), status: fault.status)
    }

    /// Leaves for the provider.
    static func start(authURI: String, data: JSONWriter, cookie: Cookie) -> HandlerPage {
        HandlerPage(
            progress:
                "<h1>One moment …</h1><p>The sign-in goes on at the provider. <a href=\"\(authURI)\">Go there</a></p>",
            cookies: [cookie],
            data: data
        )
    }

    /// Looks at its own address or storage for what the server cannot see.
    static func look(data: JSONWriter, or fault: HandlerFault) -> HandlerPage {
        HandlerPage(progress: waiting, fault: fault, data: data)
    }

    /// Brings the result where it belongs.
    static func deliver(_ event: AuthEvent, data: JSONWriter, link: String?, cookies: [Cookie]) -> HandlerPage {
        var progress = waiting
        if let link { progress = "<h1>One moment …</h1><p><a href=\"\(link)\">Back to the app</a></p>" }
        return HandlerPage(progress: progress, status: event.fault?.status ?? .ok, cookies: cookies, data: data)
    }

    private static let waiting: HTML = """
        <h1>One moment …</h1><noscript><p>This page needs JavaScript. Allow it and start again in the app.</p></noscript>
        """

    private static func explanation(of fault: HandlerFault) -> HTML {
        """
        <h1>The sign-in cannot go on</h1><p>\(fault.text)</p><p>Close this page, go back to the app and try again.</p>\
        <p><code>auth/\(fault.code)</code></p>
        """
    }

    func response() -> Response {
        var sections: [HTML] = ["<section id=\"progress\">\(html: progress)</section>"]
        if let fault {
            sections.append("<section id=\"failure\" hidden>\(html: Self.explanation(of: fault))</section>")
        }
        if data != nil { sections.append(Self.ends) }
        var page = Page(status: status, title: "Sign in", content: "<main>\(html: sections)</main>")
        page.style = PageFiles.handlerStyle
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

    /// Where the script may have to leave a person.
    private static let ends: HTML = """
        <section id="done" hidden><h1>Signed in at the provider</h1><p>You can close this window.</p></section>\
        <section id="lost" hidden><h1>The sign-in cannot go on</h1><p>The page that opened this window is gone or out of \
        reach. Close this window and try again there.</p></section>\
        <section id="blocked" hidden><h1>The sign-in cannot go on</h1><p>This browser keeps no data of this page. Allow it, \
        or go back to the app and try another way.</p><p><code>auth/web-storage-unsupported</code></p></section>
        """
}
