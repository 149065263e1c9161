import Accounts
import Federation
import HTTPTypes
import Projects
import Secrets
import Text

/// `authType=verifyApp`: what SDKs open before they ask for an SMS, if the app got no push notification.
extension HandlerRoutes {
    func checkApp(
        _ visit: HandlerVisit,
        _ request: VisitProvider.Request,
        _ caller: Caller,
        _ own: PublicURL,
        _ context: PageContext
    ) async throws -> Response {
        var fault: HandlerFault?
        do {
            if let captcha = try accounts.verifyApp.captcha(for: request, caller) {
                return CaptchaPage(context: context, captcha: captcha, request: request).page.response()
            }
        } catch { fault = try HandlerFault(error) }
        guard let fault else { return try await returnToApp(visit, request, caller, own, context) }
        return deliver(AuthEvent(visit: visit, tenant: request.tenantID, fault: fault), state: nil, own, context)
    }

    /// The form of the page.
    ///
    /// It has the SDK's parameters, which are checked again.
    ///
    /// Another site's page can make a browser post it, but needs a response of a CAPTCHA of its own visitor.
    func answerCaptcha(_ call: Call, _ form: FormFields, _ context: inout PageContext) async throws -> Response {
        let (own, request, caller, visit) = try read(form, call, &context)
        context.language = .best(visit.language, accepting: call.headers[.acceptLanguage])
        let answered = caller.presenting(try CaptchaWidget.response(in: form))
        return try await returnToApp(visit, request, answered, own, context)
    }

    private func returnToApp(
        _ visit: HandlerVisit,
        _ request: VisitProvider.Request,
        _ caller: Caller,
        _ own: PublicURL,
        _ context: PageContext
    ) async throws -> Response {
        var event = AuthEvent(visit: visit, tenant: request.tenantID)
        do {
            event.recaptchaToken = try await accounts.verifyApp(request, caller).reveal()
        } catch { event.fault = try HandlerFault(error) }
        return deliver(event, state: nil, own, context)
    }
}

/// The page on which the user of an app answers the project's CAPTCHA.
private struct CaptchaPage {
    let context: PageContext
    let captcha: CaptchaVerifier
    let request: VisitProvider.Request

    var page: Page {
        let fields: [HTML] = parameters.compactMap { name, value in
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">\n" }
        }
        var page = context.page(
            .personTitle,
            """
            <noscript><p>\(html: context.html(.needsScript))</p></noscript>
            <form method="post" action="handler">
            \(html: fields)\(html: captcha.element)<button>\(html: context.html(.personButton))</button>
            </form>
            """
        )
        page.script = PageFiles.actionScript
        page.widget = CaptchaWidget(captcha.service)
        return page
    }

    private var parameters: [(String, String?)] {
        [
            ("apiKey", request.apiKey), ("authType", request.authType), ("eventId", request.eventID),
            ("tid", request.tenantID), ("ibi", request.bundleID), ("clientId", request.clientID),
            ("appId", request.appID), ("apn", request.packageName), ("hl", request.language),
        ]
    }
}
