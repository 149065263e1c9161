import Accounts
import Domain
import Federation
import Foundation
import Text

/// The display of a provider test: its steps, the requests and responses, and the result.
struct ConsoleProviderTest {
    /// The provider's display name.
    let name: String
    /// The path of the provider's page.
    var path = ""

    init(name: String) { self.name = name }

    private enum State: String {
        case passed, failed
        case next = "next"
        case missed = "not reached"
    }

    private func step(_ title: String, _ state: State, _ content: HTML = "") -> HTML {
        let tag: HTML =
            state == .failed
            ? " <span class=\"tag warning\">failed</span>" : " <span class=\"tag\">\(state.rawValue)</span>"
        return "<li><p><b>\(title)</b>\(html: tag)</p>\(html: content)</li>\n"
    }

    private func list(_ steps: [HTML], _ end: HTML) -> HTML {
        """
        <ol class="rows">
        \(html: steps)</ol>
        \(html: end)
        """
    }

    private var back: HTML { "<p><a class=\"button\" href=\"\(path)\">Back to \(name)</a></p>" }

    private static let titles: [(step: RehearseSignIn.Step, title: String)] = [
        (.comeBack, "The provider redirects back"),
        (.exchange, "The authorization code is exchanged"),
        (.verifyIDToken, "The ID token is verified"),
        (.identify, "The user is identified"),
    ]
    private static let (wayThere, decision) = ("Redirect to the provider", "Result of a real sign-in")

    // MARK: The way there

    func start(_ started: RehearseSignIn.Started) -> HTML {
        let parts = started.authURI.split(separator: "?", maxSplits: 1).map { String($0) }
        var facts: [(name: String, value: HTML?)] = [("URL", "<code>\(parts.first ?? "")</code>")]
        for (name, value) in FormFields(parts.dropFirst().first ?? "").pairs {
            facts.append((name, "<code>\(value)</code>"))
        }
        let later = Self.titles.map { step($0.title, .next) } + [step(Self.decision, .next)]
        let here: HTML = """
            \(html: requests(started.requests))
            <p>The browser is redirected to the provider with this request:</p>
            \(html: ConsoleText.facts(facts))
            <p><a class="button" href="\(started.authURI)">Go to \(name)</a></p>
            """
        return list([step(Self.wayThere, .passed, here)] + later, back)
    }

    func refusedStart(_ error: AccountsError) -> HTML {
        let later = Self.titles.map { step($0.title, .missed) } + [step(Self.decision, .missed)]
        return list([step(Self.wayThere, .failed, words(for: error))] + later, back)
    }

    // MARK: The way back

    /// The page that the provider redirects to: it has no session yet, and no input fields.
    static func comeBack(
        _ returned: ReturnFromProvider.Returned,
        path: String,
        token: String,
        requestURI: String,
        postBody: String?,
        _ cookie: Cookie
    ) -> ConsolePage {
        var test = ConsoleProviderTest(name: ProviderNames.name(of: returned.provider.rawValue, nil))
        test.path = String(path.dropLast("/test/result".count))
        let content: HTML
        if let fault = returned.fault {
            let later = titles.dropFirst().map { test.step($0.title, .missed) } + [test.step(decision, .missed)]
            let steps = [test.step(wayThere, .passed), test.step(titles[0].title, .failed, test.words(for: fault))]
            content = test.list(steps + later, test.back)
        } else {
            let posted: HTML? = postBody.map { "<input type=\"hidden\" name=\"postBody\" value=\"\($0)\">" }
            let later = titles.dropFirst().map { test.step($0.title, .next) } + [test.step(decision, .next)]
            let form: HTML = """
                <form method="post" action="\(path)">
                <input type="hidden" name="token" value="\(token)">
                <input type="hidden" name="requestUri" value="\(requestURI)">\(html: posted)
                <input type="hidden" name="sessionId" value="\(returned.sessionID ?? "")">
                <button>Exchange authorization code</button>
                </form>
                """
            content = test.list(
                [test.step(wayThere, .passed), test.step(titles[0].title, .passed, form)] + later,
                ""
            )
        }
        var page = ConsolePage("Redirected from \(test.name)", content)
        page.cookies = [cookie]
        return page
    }

    func result(_ report: RehearseSignIn.Report, isEnabled: Bool) -> HTML {
        let shown = Self.titles.filter { step, _ in
            step != .verifyIDToken || report.credential?.tokens.idToken != nil || report.failure?.step == step
        }
        let reached = shown.firstIndex { $0.step == report.failure?.step } ?? shown.count
        var steps = [step(Self.wayThere, .passed)]
        for (index, part) in shown.enumerated() {
            let state: State = index < reached ? .passed : index == reached ? .failed : .missed
            var content: [HTML] = []
            if part.step == .exchange, state != .missed { content.append(requests(report.requests)) }
            if state == .failed, let failure = report.failure {
                content.append(words(for: AccountsError.federation(failure.error)))
            }
            if let credential = report.credential {
                if part.step == .exchange { content.append(tokens(credential)) }
                if part.step == .identify { content.append(identity(credential)) }
            }
            steps.append(step(part.title, state, "\(html: content)"))
        }
        guard let explanation = report.explanation else {
            return list(steps + [step(Self.decision, .missed)], back)
        }
        steps.append(step(Self.decision, .passed, words(for: explanation)))
        let advice: HTML =
            isEnabled
            ? "<p>The test succeeded. You were not signed in, and nothing was changed.</p>"
            : "<p>The test succeeded. Enable the provider to let users sign in with it.</p>"
        return "\(html: advice)\(html: list(steps, back))"
    }

    private func requests(_ requests: [ProviderRequest]) -> HTML {
        let rows = requests.map { request -> [HTML] in
            let milliseconds = request.duration / .milliseconds(1)
            return [
                "\(request.method)", "<code>\(request.address)</code>",
                request.status.map { "\(String($0))" } ?? "no response", "\(String(Int(milliseconds.rounded()))) ms",
            ]
        }
        return "\(html: ConsoleText.table("Requests to \(name)", ["Method", "URL", "Response", "Time"], rows))"
    }

    /// The kinds of tokens received, never the tokens themselves.
    private func tokens(_ credential: FederatedCredential) -> HTML {
        let tokens = credential.tokens
        let came = [
            ("ID token", tokens.idToken), ("access token", tokens.accessToken), ("refresh token", tokens.refreshToken),
        ]
        .filter { $0.1 != nil }.map(\.0).joined(separator: ", ")
        var facts: [(name: String, value: HTML?)] = [("Tokens received", "\(came.isEmpty ? "none" : came)")]
        facts.append(("Expires in", tokens.expiresIn.map { "\(String($0)) seconds" }))
        facts.append(("Scopes", tokens.scopes.isEmpty ? nil : "\(tokens.scopes.joined(separator: " "))"))
        return ConsoleText.facts(facts)
    }

    private func identity(_ credential: FederatedCredential) -> HTML {
        let identity = credential.identity
        var facts: [(name: String, value: HTML?)] = [("User ID at the provider", "<code>\(identity.subject)</code>")]
        facts.append(("Issuer", identity.issuer.isEmpty ? nil : "\(identity.issuer)"))
        facts.append(("Email address", identity.email.map { "<bdi>\($0.original)</bdi>" } ?? "none"))
        if identity.email != nil {
            let word: HTML =
                identity.emailUnverifiedClaim == true
                ? "not verified" : identity.emailVerifiedClaim ? "verified" : "not stated"
            facts.append(("Email verified by the provider", word))
        }
        facts.append(("Name", identity.profile.displayName.map { "<bdi>\($0)</bdi>" }))
        return ConsoleText.facts(facts)
    }

    private func words(for explanation: ExplainSignIn.Explanation) -> HTML {
        let outcome =
            switch explanation.decision {
            case .signIn: "Signs in to the linked account."
            case .adoptEmail: "Signs in to the linked account, which takes the email."
            case .signUp(_, _, nil): "Creates an account."
            case .signUp: "Creates an account, which takes the email from another one."
            case .link: "Links the identity to the account with this email and signs in."
            case .takeOver: "Takes over the account whose email is not verified."
            case .conflict: "Asks the user to sign in with an existing method, then links the identity."
            case .refuse: "Refuses the sign-in."
            }
        let trust =
            explanation.provesEmail
            ? "The provider's email counts as verified." : "The provider's email does not count as verified."
        return "<p>\(outcome) \(explanation.row.reason) \(trust)</p>"
    }

    // MARK: What is wrong

    private func words(for error: any Error) -> HTML {
        let wire = WireError(mapping: error)
        let advice: HTML? = Self.advice(for: error).map { "<p>\($0)</p>" }
        return "\(html: advice)<p class=\"quiet\">\(wire.message)</p>"
    }

    private static func advice(for error: any Error) -> String? {
        guard case .federation(let error)? = (error as? AccountsError)?.cause else { return nil }
        return switch error {
        case .clientRejected:
            "The provider rejected the client ID or client secret. Copy both from the provider again."
        case .codeRejected:
            "The provider rejected its authorization code. Usually the client ID belongs to another application."
        case .cancelled: "You canceled at the provider, or it returned no authorization code."
        case .scopeRefused: "The application at the provider is not allowed to request one of the scopes."
        case .unavailable, .issuerUnreachable, .overloaded:
            "The provider did not respond, or its address cannot be reached from this node."
        case .issuerMismatch, .issuerParameterMismatch: "The issuer in the response is not the configured one."
        case .audienceMismatch: "The ID token is for another client ID."
        case .authorizedPartyMismatch: "The ID token was issued to another client ID (azp)."
        case .misconfigured: "The configuration is inconsistent."
        case .callbackMismatch: "The provider redirected to an unexpected redirect URI."
        default: nil
        }
    }
}
