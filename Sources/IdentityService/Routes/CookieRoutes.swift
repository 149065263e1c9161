import Accounts
import HTTPTypes
import Logging
import NIOCore
import Projects
import Secrets
import Storage
import StrictJSON
import Text

/// `/__cookies__`: signs a web app's user in and keeps the tokens in cookies of the app's own host, where its server finds
/// the ID token (`browserCookiePersistence` of the Web SDK).
///
/// The app's host passes this path on to the service. `finalTarget` is the URL that the SDK would have called otherwise.
/// Nothing is sent there: if it is one of the service's own ``operations``, the service performs it in this process.
struct CookieRoutes: Sendable {
    let accounts: AccountsService
    let deployment: Deployment
    let snapshot: @Sendable () -> ConfigurationSnapshot
    /// The project of the API key in a query of a call.
    let projectOfKey: @Sendable (FormFields, Call) async throws -> Project
    /// Any loopback origin counts as authorized.
    let development: Bool
    /// Answers ``operations``, and nothing else.
    let responder: ServiceResponder

    var routes: [Route] {
        [
            Route(
                .post,
                "/__cookies__",
                on: .service,
                errors: .plainFailures(.accounts),
                bodyLimit: Request.maximumClientBody,
                .open(perform)
            ),
            Route(.delete, "/__cookies__", on: .service, errors: .plainFailures(.accounts), .open(end)),
        ]
    }

    /// The operations that the SDK sends here: all that return tokens, but for sign-up and second factors.
    static func operations(of routes: [Route]) -> [Route] {
        let signIns = ["CustomToken", "EmailLink", "Idp", "Password", "PhoneNumber"]
        let paths = signIns.map { "/v1/accounts:signInWith\($0)" } + ["/v1/token"]
        return routes.filter { $0.method == .post && paths.contains($0.path) }
    }

    // MARK: Sign-in and refresh

    private func perform(_ call: Call) async throws -> Response {
        let origin = try Self.origin(of: call)
        let target = try await target(of: call)
        guard origin.isAuthorizedOrigin(of: target.project.settings, anyLoopback: development) else {
            throw AccountsError.unauthorizedDomain
        }
        let cookies = TokenCookies(
            app: try Self.appName(call),
            project: target.project.id,
            isSecure: origin.scheme == "https"
        )
        var request = Self.request(to: target, for: call)
        request.longestIDToken = cookies.longestIDToken
        guard try target.isRefresh && call.formOrJSON().string("refreshToken") == TokenCookies.placeholder else {
            return try Self.keeping(await responder.respond(to: request), in: cookies)
        }
        guard let token = cookies.refreshToken(in: call.headers), !cookies.isSignedOut(in: call.headers) else {
            return WireError(mapping: AccountsError.tokenExpired).response(in: .status).setting(cookies.ended)
        }
        request.headers[.contentType] = JSONWriter.contentType
        request.body = Self.refreshing(token)
        let response = await responder.respond(to: request)
        guard response.status != .badRequest || Self.isTooLong(response) else { return response.setting(cookies.ended) }
        return try Self.keeping(response, in: cookies)
    }

    /// Whether the session goes on, but its token fits no cookie now: shorter claims bring the user back.
    private static func isTooLong(_ response: Response) -> Bool {
        String(buffer: response.body).contains("\"COOKIE_TOO_LARGE")
    }

    private static func refreshing(_ token: Secret) -> ByteBuffer {
        var json = JSONWriter()
        json.object { json in
            json.member("grantType", "refresh_token")
            json.member("refreshToken", token.reveal())
        }
        return json.bytes
    }

    private struct Target {
        /// Path and query.
        var text: String
        var project: Project
        var isRefresh: Bool
    }

    /// - Throws: if it is not below the service's own URL, its key names no project, or it is none of ``operations(of:)``.
    private func target(of call: Call) async throws -> Target {
        let text = try call.query.value("finalTarget") ?? ""
        guard let url = ContinueURI(text), let query = FormFields(strict: url.query ?? "") else {
            throw WireError.invalidRequest("finalTarget must be the URL of an operation.", field: "finalTarget")
        }
        let project = try await projectOfKey(query, call)
        let own = [deployment.publicURL(of: project), deployment.pages(at: url.authority)]
        guard let path = own.lazy.compactMap({ $0.flatMap { ContinueURI($0.text) }.flatMap(url.path(below:)) }).first
        else {
            throw WireError.invalidRequest("finalTarget must be a URL of this service.", field: "finalTarget")
        }
        guard case .route(let route, _) = responder.table.match(.post, path) else { throw WireError.notFound }
        return Target(
            text: "\(path)?\(url.query ?? "")",
            project: project,
            isRefresh: route.host == .secureToken
        )
    }

    /// The request that the page would have sent itself: none of this one's cookies, and no other credential.
    private static func request(to target: Target, for call: Call) -> Request {
        var headers = HTTPFields()
        for name in [HTTPField.Name.contentType, .userAgent, .firebaseLocale] { headers[name] = call.headers[name] }
        return Request(
            method: .post,
            target: target.text,
            headers: headers,
            body: call.body,
            peer: call.device.address.flatMap { IPAddress(caller: $0) }
        )
    }

    /// Moves the tokens of a response into cookies; the refresh token occurs nowhere else in what a script can read.
    private static func keeping(_ response: Response, in cookies: TokenCookies) throws -> Response {
        guard response.status == .ok else { return response }
        let object = try WireObject(JSONValue(parsing: response.body.readableBytesView, depth: 32))
        guard let idToken = try object.string("idToken"), let refreshToken = try object.string("refreshToken"),
            !refreshToken.isEmpty
        else { return response }
        var kept = response.setting(cookies.holding(idToken: idToken, refreshToken: refreshToken))
        let text = String(buffer: response.body).replacing(refreshToken, with: TokenCookies.placeholder)
        kept.body = ByteBuffer(string: text)
        return kept
    }

    // MARK: Sign-out

    /// Ends the app's cookies, and the sessions of their refresh tokens.
    private func end(_ call: Call) async throws -> Response {
        let origin = try Self.origin(of: call)
        let (app, isSecure) = (try Self.appName(call), origin.scheme == "https")
        var ended = [TokenCookies.endedIDToken(of: app, isSecure: isSecure)]
        for id in TokenCookies.projects(of: app, isSecure: isSecure, in: call.headers) {
            let cookies = TokenCookies(app: app, project: id, isSecure: isSecure)
            ended += cookies.ended
            if let token = cookies.refreshToken(in: call.headers), let project = snapshot().project(id) {
                await endSession(token, Caller(call, project: project, apiKey: nil), call)
            }
        }
        return Response.json { _ in }.setting(ended)
    }

    /// The cookies end in any case: a page that signed out must not come back with a user.
    private func endSession(_ refreshToken: Secret, _ caller: Caller, _ call: Call) async {
        do { try await accounts.endSession(refreshToken: refreshToken, caller) } catch {
            call.logger.info("Session not ended", metadata: ["error.type": "\(type(of: error))"])
        }
    }

    // MARK: The page

    /// The origin of the app's page that sent a request.
    ///
    /// Cookies are sent with requests of other sites' pages too, in some browsers and cases. So the browser has to say
    /// that the page is of the host that it calls: by Fetch Metadata, or else by an `Origin` that is the `Host`.
    private static func origin(of call: Call) throws(WireError) -> ContinueURI {
        guard let text = call.headers[.origin], let origin = ContinueURI(text), origin.isOrigin else {
            throw .forbidden
        }
        guard call.isSameOrigin(else: { _ in call.host == origin.authority }) else { throw .forbidden }
        return origin
    }

    private static func appName(_ call: Call) throws(WireError) -> TokenCookies.AppName {
        guard let name = TokenCookies.AppName(try call.query.value("appName") ?? TokenCookies.AppName.usual) else {
            throw .invalidRequest("appName must be 1 to 64 letters, digits or any of -._[].", field: "appName")
        }
        return name
    }
}

extension Response {
    fileprivate func setting(_ cookies: [String]) -> Response {
        var response = self
        for cookie in cookies { response.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return response
    }
}
