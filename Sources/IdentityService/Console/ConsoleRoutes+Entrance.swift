import Accounts
import HTTPTypes
import Projects
import Secrets
import Storage
import Text

/// Sign-in, setup, sign-out, and reauthentication.
extension ConsoleRoutes {
    var entranceRoutes: [Route] {
        [
            entrance(.get, "/console/sign-in", showSignIn),
            entrance(.post, "/console/sign-in", signIn),
            entrance(.get, "/console/set-up", showSetUp),
            entrance(.post, "/console/set-up", setUp),
            action("/console/sign-out", isGrave: { _ in false }, signOut),
        ]
    }

    /// A page for visitors who are not signed in.
    private func entrance(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (Call) async throws -> Response
    ) -> Route {
        Route(method, path, on: .service, errors: .consolePage, .open(handler))
    }

    // MARK: Signing in

    @Sendable private func showSignIn(_ call: Call) async throws -> Response {
        signInPage(next: ConsolePath.next(try call.query.value("next")), email: "").response()
    }

    @Sendable private func signIn(_ call: Call) async throws -> Response {
        try requireOwnPage(call)
        let form = try ConsoleForm(call)
        let isSecure = try isSecure(call)
        let next = ConsolePath.next(try form.value("next"))
        let request = SignInToConsole.Request(
            email: try form.value("email").trimmingSpaces,
            password: Secret(try form.value("password")),
            code: try form.value("code"),
            handle: Cookie.consoleHandle(isSecure: isSecure, in: call.headers),
            attempt: .page(
                browser: Cookie.consoleBrowser(isSecure: isSecure, in: call.headers),
                subscriber: call.device.subscriber
            )
        )
        do {
            let entrance = try await accounts.signInToConsole(request)
            return Self.redirect(to: next, Cookie.console(entrance, isSecure: isSecure))
        } catch {
            throw refused(error, signInPage(next: next, email: request.email))
        }
    }

    private func signInPage(next: String, email: String) -> ConsolePage {
        ConsolePage(
            "Sign in to the console",
            """
            <form class="narrow" method="post" action="/console/sign-in">
            <input type="hidden" name="next" value="\(next)">
            <label for="email">Email address</label>
            <input id="email" name="email" type="text" inputmode="email" autocapitalize="off" spellcheck="false" value="\(email)" autocomplete="username" required>
            \(html: Self.proofFields)
            <button>Sign in</button>
            </form>
            <p class="quiet">The operator creates your account with <code>identity admins create EMAIL</code>.
            <a href="/console/set-up">Set up your account</a> with the code that it prints.</p>
            """
        )
    }

    /// The fields for the password and a code.
    private static let proofFields: HTML = """
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required>
        <label for="code">Code from your authenticator app</label>
        <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required>
        """

    /// The same page with the error; errors of the service have their own page.
    private func refused(_ error: any Error, _ page: ConsolePage) -> RefusedPage {
        let wire = WireError(mapping: error)
        let isOurs = wire.status.kind == .serverError
        var page = isOurs ? ConsolePage.problem(wire, nil) : page
        page.status = error is ConsoleError ? .forbidden : ConsolePage.status(of: wire)
        if !isOurs { page.alert = Self.words(for: error) }
        return RefusedPage(cause: error, response: page.response())
    }

    private static func words(for error: any Error) -> HTML {
        switch error {
        case ConsoleError.wrongCredentials:
            "<p>Incorrect email address, password or code. You can use each code only once: wait for the next one.</p>"
        case ConsoleError.invalidSetUpCode:
            "<p>The setup code is incorrect, already used, or older than a day. <code>identity admins reset EMAIL</code> creates a new one.</p>"
        case ConsoleError.setUpOver: "<p>That took too long. Enter the setup code again.</p>"
        case ConsoleError.passwordTooShort: "<p>The password must have at least 12 characters.</p>"
        case ConsoleError.passwordTooLong: "<p>The password is too long.</p>"
        case ConsoleError.wrongCode:
            "<p>The code is incorrect. Enter the code that the app shows now, and check the device's clock.</p>"
        case is RateLimitReached: "<p>Too many attempts. Try again in half an hour.</p>"
        default: "<p>Invalid request. Try again.</p>"
        }
    }

    // MARK: Setting up

    @Sendable private func showSetUp(_ call: Call) async throws -> Response { codePage.response() }

    private var codePage: ConsolePage {
        ConsolePage(
            "Set up your account",
            """
            <form class="narrow" method="post" action="/console/set-up">
            <label for="setup">Setup code</label>
            <input id="setup" name="setup" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="128"
            aria-describedby="setup-hint" required>
            <p id="setup-hint" class="hint"><code>identity admins create</code> printed it. It expires after one day and can be used once.</p>
            <button>Continue</button>
            </form>
            """
        )
    }

    @Sendable private func setUp(_ call: Call) async throws -> Response {
        try requireOwnPage(call)
        let form = try ConsoleForm(call)
        let isSecure = try isSecure(call)
        let code = Secret(try form.value("setup").filter { !$0.isWhitespace })
        let sealed = try form.value("enrollment")
        let subscriber = call.device.subscriber
        guard !sealed.isEmpty else {
            do {
                let enrollment = try await accounts.setUpConsole.begin(code, subscriber: subscriber)
                return enrollmentPage(enrollment, code).response()
            } catch {
                throw refused(error, codePage)
            }
        }
        do {
            let entrance = try await accounts.setUpConsole.finish(
                code,
                sealed,
                password: Secret(try form.value("password")),
                appCode: try form.value("code"),
                subscriber: subscriber
            )
            return Self.redirect(to: "/console", Cookie.console(entrance, isSecure: isSecure))
        } catch let error as ConsoleError where error == .setUpOver || error == .invalidSetUpCode {
            throw refused(error, codePage)
        } catch let error as ConsoleError {
            let enrollment = try await accounts.setUpConsole.goOn(code, sealed, subscriber: subscriber)
            throw refused(error, enrollmentPage(enrollment, code))
        }
    }

    private func enrollmentPage(_ enrollment: SetUpConsole.Enrollment, _ code: Secret) -> ConsolePage {
        ConsolePage(
            "Set a password and an authenticator app",
            """
            <form class="narrow" method="post" action="/console/set-up">
            <input type="hidden" name="setup" value="\(code.reveal())">
            <input type="hidden" name="enrollment" value="\(enrollment.sealed)">
            <label for="email">Email address</label>
            <input id="email" type="text" value="\(enrollment.email)" autocomplete="username" readonly>
            <label for="password">New password</label>
            <input id="password" name="password" type="password" autocomplete="new-password" minlength="12"
            aria-describedby="password-hint" required>
            <p id="password-hint" class="hint">At least 12 characters. We recommend a password manager.</p>
            <h2>Authenticator app</h2>
            <p>Scan this code with your app, open <a href="\(enrollment.uri)">this link</a> on this device, or enter the key:</p>
            \(html: QRCode(enrollment.uri)?.svg("QR code with the key below"))
            <p><code class="key">\(Self.grouped(enrollment.secret))</code></p>
            <label for="code">Code from the app</label>
            <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required>
            <button>Set up and sign in</button>
            </form>
            """
        )
    }

    /// In groups of four characters, for typing.
    private static func grouped(_ secret: String) -> String {
        secret.enumerated().map { $0 > 0 && $0 % 4 == 0 ? " \($1)" : String($1) }.joined()
    }

    // MARK: Signing out

    @Sendable private func signOut(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Outcome {
        try await accounts.signInToConsole.signOut(visit.handle)
        var page = ConsolePage(
            "You are signed out",
            "<p><a class=\"button\" href=\"/console/sign-in\">Sign in</a></p>"
        )
        page.cookies = [.console(nil, isSecure: visit.isSecure)]
        return .page(page)
    }

    // MARK: Proving it again

    enum Proof: Sendable {
        /// With the new session.
        case proved(ConsoleEntrance)
        case asked(ConsolePage)
    }

    /// Checks the password and code in the form, or asks for them; then the action continues.
    ///
    /// The session gets a new handle, as at every sign-in.
    func proveAgain(_ visit: ConsoleVisit, _ form: ConsoleForm) async throws -> Proof {
        guard try !form.value("code").isEmpty else { return .asked(proofPage(visit, form)) }
        do {
            let entrance = try await accounts.signInToConsole(
                SignInToConsole.Request(
                    email: visit.session.admin.name,
                    password: Secret(try form.value("password")),
                    code: try form.value("code"),
                    handle: visit.handle,
                    attempt: .session(visit.handle)
                )
            )
            return .proved(entrance)
        } catch {
            throw refused(error, proofPage(visit, form))
        }
    }

    private func proofPage(_ visit: ConsoleVisit, _ form: ConsoleForm) -> ConsolePage {
        let fields = form.items.pairs.filter { $0.name != "password" && $0.name != "code" }.map { name, value -> HTML in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">\n"
        }
        return ConsolePage(
            "Confirm that it is you",
            """
            <p>Enter your password and a code to continue with this action.</p>
            <form class="narrow" method="post" action="\(visit.call.path)">
            \(html: fields)\(html: Self.proofFields)
            <button>Continue</button>
            </form>
            """,
            visit: visit
        )
    }
}
