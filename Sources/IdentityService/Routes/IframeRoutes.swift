import Accounts
import HTTPTypes
import NIOCore
import Projects
import Secrets
import Storage
import Text

/// `/__/auth/iframe`: the frame through which web SDKs receive results; and other resources that such a page loads.
struct IframeRoutes {
    let accounts: AccountsService
    let projectOfPage: @Sendable (String, Call) -> Project?
    let snapshot: @Sendable () -> ConfigurationSnapshot
    let deployment: Deployment
    let development: Bool

    var routes: [Route] {
        [
            Route(.get, "/__/auth/iframe", on: .service, errors: .handlerPage, .open(iframe)),
            Route(.get, "/emulator/auth/iframe", on: .service, errors: .handlerPage, .open(iframe)),
            Route(
                .post,
                "/__/auth/iframe",
                on: .service,
                errors: .status,
                bodyLimit: Request.maximumClientBody,
                .open(takeRedirectResult)
            ),
            Route(.get, "/__/auth/gapi.js", on: .service, errors: .status, .open(loader)),
            Route(.get, "/__/firebase/init.json", on: .service, errors: .status, .open(initialize)),
        ]
    }

    private static let googleLoader = "https://apis.google.com/js/api.js"
    /// The loader, and the scripts that it loads.
    private static let googleSources = ["https://apis.google.com/js/", "https://apis.google.com/_/scs/"]

    private func iframe(_ call: Call) async throws -> Response {
        let key = try call.query.value("apiKey") ?? ""
        let appName = try call.query.value("appName") ?? ""
        var context = PageContext(language: .best(nil, accepting: call.headers[.acceptLanguage]))
        guard let project = projectOfPage(key, call), !key.isEmpty else {
            return HandlerPage.ended(try HandlerFault(HandlerError.invalidParameter("apiKey")), context).response()
        }
        context.project = project
        guard (1...256).contains(appName.utf8.count) else {
            return HandlerPage.ended(try HandlerFault(HandlerError.missingParameter("appName")), context).response()
        }
        let settings = project.settings
        var json = JSONWriter()
        json.object { json in
            json.member("apiKey", key)
            json.member("appName", appName)
            let domains = settings.authorizedDomains.map { AuthorizedDomain($0) }
            json.member("origins", strings: domains.filter(\.isExtension).map(\.text))
            json.member("hosts", strings: domains.filter { !$0.isExtension }.map(\.text))
            json.member("parents", strings: domains.filter(\.includesSubdomains).map(\.text))
            json.member("anyLoopback", development)
            if settings.googleLoader { json.member("loader", Self.googleLoader) }
            if let own = try? deployment.pages(for: call), redirectResult(of: call, own) != nil {
                json.member("kept", "\(own)/__/auth/iframe")
            }
        }
        var page = Page(title: "Sign in", content: "")
        page.script = PageFiles.iframeScript
        page.data = json.text
        page.frameAncestors = ancestors(settings.authorizedDomains)
        if settings.googleLoader { page.scriptSources = Self.googleSources }
        return page.response()
    }

    private func redirectResult(of call: Call, _ own: PublicURL) -> Secret? {
        Cookie.redirectResult(isSecure: own.isSecure, in: call.headers)
    }

    /// What the handler page kept for the frame that asks: the event, once; 204 if there is none.
    private func takeRedirectResult(_ call: Call) async throws -> Response {
        let own = try deployment.pages(for: call)
        guard call.isFromOwnPage(own) else { throw WireError.forbidden }
        let body = try call.json()
        let frame = RedirectResult.Frame(
            apiKey: try body.string("apiKey") ?? "",
            appName: try body.string("appName") ?? "",
            origin: try body.string("origin") ?? ""
        )
        guard let secret = redirectResult(of: call, own),
            let event = try await accounts.redirectResult.take(secret, in: frame)
        else { return Response(status: .noContent, headers: [.cacheControl: "no-store"]) }
        let ended = Cookie.redirectResult(nil, isSecure: own.isSecure).header
        return Response(
            status: .ok,
            headers: [.contentType: JSONWriter.contentType, .cacheControl: "no-store", .setCookie: ended],
            body: ByteBuffer(bytes: event)
        )
    }

    /// The project's domains, with any port.
    private func ancestors(_ domains: [String]) -> [String] {
        let loopback = development ? ["localhost", "127.0.0.1"].filter { !domains.contains($0) } : []
        return AuthorizedDomain.withoutCovered(domains + loopback).flatMap(\.policySources)
    }

    /// The script that a page can load instead of Google's loader.
    private func loader(_ call: Call) async throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/javascript; charset=utf-8", .cacheControl: "public, max-age=3600"],
            body: ByteBuffer(string: PageFiles.loaderScript)
        )
    }

    /// An app's configuration: of the project of `apiKey`, or of the only project.
    private func initialize(_ call: Call) async throws -> Response {
        let own = try deployment.pages(for: call)
        let snapshot = snapshot()
        let found: (key: String, project: Project)?
        if let key = try call.query.value("apiKey"), !key.isEmpty {
            found = projectOfPage(key, call).map { (key, $0) }
        } else {
            found = deployment.onlyProject(at: call.host, among: snapshot.allProjects).flatMap { project in
                let key = snapshot.apiKey(of: project.id)?.rawValue ?? (development ? "any" : nil)
                return key.map { ($0, project) }
            }
        }
        guard let found else { throw WireError.projectNotFound }
        return .json { json in
            json.member("apiKey", found.key)
            json.member("authDomain", own.text.split(separator: "/").dropFirst().first.map { String($0) })
            json.member("projectId", found.project.id.rawValue)
            json.member("messagingSenderId", String(found.project.number.rawValue))
        }
    }
}
