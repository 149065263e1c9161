import Accounts
import Federation
import HTTPTypes
import Logging
import NIOCore
import Projects
import Secrets
import StrictJSON
import Text

/// `/__/auth/handler`: where SDKs send a browser for a sign-in at a provider, and where the provider redirects.
struct HandlerRoutes {
    let accounts: AccountsService
    let projectOfPage: @Sendable (String, Call) -> Project?
    let deployment: Deployment
    let signInPages: SignInPageRoutes

    var routes: [Route] {
        ["/__/auth/handler", "/__/auth/handler/{project}", "/emulator/auth/handler"].flatMap { path in
            [
                Route(.get, path, on: .service, errors: .handlerPage, .open(get)),
                Route(.post, path, on: .service, errors: .handlerPage, .open(post)),
            ]
        }
    }

    /// Where the response of a provider has arrived.
    private func address(of call: Call, _ own: PublicURL) -> String {
        call.parameters["project"].map { "\(own.callback)/\($0)" } ?? own.callback
    }

    private static let maximumForm = 65_536
    /// The field in which `handler.js` sends the stored secret if there is no cookie.
    private static let browserField = "identity.browser"
    /// The field in which it states that the posted parameters came from an address.
    private static let addressField = "identity.address"

    private func get(_ call: Call) async throws -> Response {
        try await page(call) { context in
            // A HEAD request completes nothing.
            guard call.method != .head else { return HandlerPage.idle(context).response() }
            let query = call.query
            if try query.value("apiKey") != nil || query.value("authType") != nil || query.value("providerId") != nil {
                // Images of another site could fill the browser with cookies of flows.
                let isOpened = (call.headers[.secFetchDest] ?? "document") == "document"
                return isOpened ? try await start(call, &context) : HandlerPage.idle(context).response()
            }
            let own = try deployment.pages(for: call)
            guard let state = try query.value("state"), !state.isEmpty else {
                let fault = try HandlerFault(HandlerError.unknownFlow)
                return HandlerPage.look(data: Self.data("fragment"), or: fault, context).response()
            }
            return try await takeBack(
                call,
                Answer(state: state, requestURI: "\(address(of: call, own))?\(call.rawQuery)"),
                own,
                &context
            )
        }
    }

    private func post(_ call: Call) async throws -> Response {
        try await page(call) { context in
            guard call.body.readableBytes <= Self.maximumForm else { throw WireError.tooLarge(Self.maximumForm) }
            let text = String(buffer: call.body)
            guard let form = FormFields(strict: text) else { throw HandlerError.unknownFlow }
            if try form.value("authType") == HandlerVisit.appCheck {
                return try await answerCaptcha(call, form, &context)
            }
            guard let state = try form.value("state"), !state.isEmpty else { throw HandlerError.unknownFlow }
            let own = try deployment.pages(for: call)
            let pairs = FormFields.split(text).filter { $0.name != Self.browserField && $0.name != Self.addressField }
            let body = pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
            var answer = Answer(state: state, requestURI: address(of: call, own), postBody: body)
            answer.isPosted = try form.value(Self.addressField) == nil
            // Any site's page can make a browser post a secret that its author knows; no page can forge the origin that
            // browsers state (T-B1).
            if call.isSameOrigin(else: { _ in false }) { answer.shown = try form.value(Self.browserField) }
            return try await takeBack(call, answer, own, &context)
        }
    }

    /// The page for the result; errors of the service itself are thrown.
    ///
    /// - Parameter make: completes the context as more is known.
    private func page(
        _ call: Call,
        _ make: (inout PageContext) async throws -> Response
    ) async throws -> Response {
        var context = PageContext()
        context.language = .best(try? call.query.value("hl"), accepting: call.headers[.acceptLanguage])
        do {
            return try await make(&context)
        } catch let refused as RefusedPage {
            throw refused
        } catch {
            return HandlerPage.ended(try HandlerFault(error), context).response()
        }
    }

    private static func data(_ action: String) -> JSONWriter {
        data(action) { _ in }
    }

    private static func data(_ action: String, _ members: (inout JSONWriter) -> Void) -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("action", action)
            members(&json)
        }
        return json
    }

    // MARK: To the provider

    private func start(_ call: Call, _ context: inout PageContext) async throws -> Response {
        let (own, request, caller, visit) = try read(call.query, call, &context)
        guard visit.authType != HandlerVisit.appCheck else {
            return try await checkApp(visit, request, caller, own, context)
        }
        do {
            let started = try await accounts.visitProvider.start(
                visit,
                request,
                callback: deployment.callback(of: caller.project, at: own),
                caller
            )
            let refusal = AuthEvent(visit: visit, tenant: request.tenantID, fault: .storageBlocked)
            let data = Self.data("start") { json in
                json.member("state", started.state.reveal())
                json.member("browser", started.browser.reveal())
                json.member("url", started.authURI)
                json.object("refusal") { refusal.writeDelivery(to: &$0, at: own) }
            }
            let flow = Cookie.flow(started.state.reveal(), started.browser.reveal(), seconds: 600, own.isSecure)
            let cookies = [flow] + Cookie.leftFlows(isSecure: own.isSecure, in: call.headers)
            return HandlerPage.start(authURI: started.authURI, data: data, cookies: cookies, context).response()
        } catch {
            let event = AuthEvent(visit: visit, tenant: request.tenantID, fault: try HandlerFault(error))
            return deliver(event, state: nil, own, context)
        }
    }

    /// Reads what an SDK asks for.
    func read(
        _ items: FormFields,
        _ call: Call,
        _ context: inout PageContext
    ) throws -> (own: PublicURL, request: VisitProvider.Request, caller: Caller, visit: HandlerVisit) {
        let own = try deployment.pages(for: call)
        guard let key = try items.value("apiKey"), !key.isEmpty else { throw HandlerError.missingParameter("apiKey") }
        guard let project = projectOfPage(key, call) else { throw HandlerError.invalidParameter("apiKey") }
        context.project = project
        let caller = Caller(call, project: project, apiKey: key)
        let request = try Self.request(items, key: key)
        return (own, request, caller, try accounts.visitProvider.destination(of: request, caller))
    }

    private static func request(_ query: FormFields, key: String) throws -> VisitProvider.Request {
        /// Empty ones count as absent, because SDKs send some parameters empty.
        func value(_ name: String) throws -> String? {
            try query.value(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        var request = VisitProvider.Request(apiKey: key)
        request.appName = try value("appName")
        request.authType = try value("authType")
        request.providerID = try value("providerId")
        request.redirectURL = try value("redirectUrl")
        request.eventID = try value("eventId")
        request.tenantID = try value("tid")
        request.sessionID = try value("sessionId")
        request.bundleID = try value("ibi")
        request.clientID = try value("clientId")
        request.appID = try value("appId")
        request.packageName = try value("apn")
        request.language = try value("hl").flatMap { Call.isLanguage($0) ? $0 : nil }
        request.scopes = try (value("scopes") ?? "").split { $0 == "," || $0 == " " }.map { String($0) }
        if let text = try value("customParameters") {
            guard text.utf8.count <= 16_384, let object = (try? JSONValue(parsing: Array(text.utf8), depth: 2))?.object
            else {
                throw HandlerError.invalidParameter("customParameters")
            }
            for member in object.members {
                guard let value = member.value.string,
                    request.customParameters.updateValue(value, forKey: member.name) == nil
                else { throw HandlerError.invalidParameter("customParameters") }
            }
        }
        return request
    }

    // MARK: Back from it

    /// The provider's response.
    private struct Answer {
        var state: String
        var requestURI: String
        var postBody: String?
        /// Whether the provider posted it.
        var isPosted = false
        /// The secret that `handler.js` had stored, if there is no cookie.
        var shown: String?
    }

    private func takeBack(
        _ call: Call,
        _ answer: Answer,
        _ own: PublicURL,
        _ context: inout PageContext
    ) async throws -> Response {
        let cookies = Cookie.flowValues(answer.state, isSecure: own.isSecure, in: call.headers)
        guard let browser = answer.shown ?? cookies.first else {
            let data = Self.data("prove") { json in
                json.member("state", answer.state)
                json.member("fields", answer.postBody)
                json.member("isPosted", answer.isPosted)
            }
            return HandlerPage.look(data: data, or: try HandlerFault(HandlerError.unknownFlow), context).response()
        }
        let returned = try await accounts.returnFromProvider(
            requestURI: answer.requestURI,
            postBody: answer.postBody,
            isPosted: answer.isPosted,
            browser: Secret(browser)
        )
        context.project = returned.project
        context.language = .best(returned.visit.language, accepting: call.headers[.acceptLanguage])
        if case .signInPage(let visit) = returned.visit.destination {
            return try await signInPages.comeBack(
                visit,
                returned,
                requestURI: answer.requestURI,
                postBody: answer.postBody,
                call,
                context,
                .flow(answer.state, "", seconds: 0, own.isSecure)
            )
        }
        if case .console(let path, let token) = returned.visit.destination {
            return ConsoleProviderTest.comeBack(
                returned,
                path: path,
                token: token,
                requestURI: answer.requestURI,
                postBody: answer.postBody,
                .flow(answer.state, "", seconds: 0, own.isSecure)
            ).response()
        }
        var event = AuthEvent(visit: returned.visit)
        if returned.project.tenant != .none { event.tenant = returned.project.tenant.rawValue }
        if let fault = returned.fault {
            event.fault = try HandlerFault(fault)
        } else {
            event.urlResponse = answer.requestURI
            event.postBody = answer.postBody
            event.sessionID = returned.sessionID
        }
        let caller = Caller(project: returned.project)
        return deliver(event, state: answer.state, kept: await keep(event, call, caller), own, context)
    }

    /// Keeps the result of a redirect; the page's script does that too, where most browsers find it.
    private func keep(_ event: AuthEvent, _ call: Call, _ caller: Caller) async -> Secret? {
        do { return try await accounts.redirectResult.keep(event.json, of: event.visit, caller) } catch {
            call.logger.info("Result of a redirect not kept", metadata: ["error.type": "\(type(of: error))"])
            return nil
        }
    }

    /// - Parameters:
    ///   - state: of the flow, whose cookie is removed; nil if none started.
    ///   - kept: by which the SDK's frame takes the result.
    func deliver(
        _ event: AuthEvent,
        state: String?,
        kept: Secret? = nil,
        _ own: PublicURL,
        _ context: PageContext
    ) -> Response {
        let data = Self.data("deliver") { json in
            json.member("state", state)
            event.writeDelivery(to: &json, at: own)
        }
        let flow = state.map { Cookie.flow($0, "", seconds: 0, own.isSecure) }
        let result = kept.map { Cookie.redirectResult($0, isSecure: own.isSecure) }
        return HandlerPage.deliver(
            event,
            data: data,
            link: event.link(at: own),
            cookies: [flow, result].compactMap(\.self),
            context
        ).response()
    }
}
