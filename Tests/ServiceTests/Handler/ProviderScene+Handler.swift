import Development
import Domain
import Foundation
import StrictJSON
import Testing
import TestKit
import Text

/// The handler page as it was answered.
struct OpenedPage: Sendable {
    var reply: Reply
    /// What its script works with; null for a page that stays.
    var data: JSON

    init(_ reply: Reply) throws {
        self.reply = reply
        let text = reply.response.text
        let block = text.firstMatch(of: #/<script type="application/json" id="data">(.*?)</script>/#)
        data = try block.map { try JSON(parsing: Array($0.1.utf8)) } ?? .null
    }

    var text: String { reply.response.text }
    var action: String? { data["action"]?.string }
    var event: JSON? { data["event"] }
    /// `auth/…` of a page that stays.
    var code: String? { text.firstMatch(of: #/<bdi>(auth/[a-z-]+)</bdi></p>/#).map { String($0.1) } }
    var cookies: [String] {
        reply.response.headers.filter { $0.name.lowercased() == "set-cookie" }.map(\.value)
    }
    /// `name=value` of its cookie.
    var cookie: String? { cookies.first.map { String($0.prefix { $0 != ";" }) } }
}

/// What scripts and browsers do with the pages, step by step.
extension ProviderScene {
    static func runPages(
        _ kind: Kind,
        development: Bool = false,
        _ change: @Sendable (inout Options) -> Void = { _ in },
        _ body: @Sendable (ProviderScene) async throws -> Void
    ) async throws {
        var options = Options()
        options.service.ownPages = true
        options.service.development = development
        if kind == .yahooJapan { options.definition = ["responseTypes": ["code id_token"]] }
        change(&options)
        try await run(kind, options, body)
    }

    static let handler = "/__/auth/handler"

    /// The parameters with which the web SDK opens the page.
    func parameters(_ authType: String = "signInViaPopup") -> [(String, String)] {
        [
            ("apiKey", service.apiKey), ("appName", "[DEFAULT]"), ("authType", authType),
            ("redirectUrl", "http://localhost:8000/app?a=b#/route"), ("v", "12.0.0"), ("eventId", "1234567890"),
            ("providerId", provider.rawValue), ("scopes", kind.isOpenID ? "email" : ""),
            ("customParameters", #"{"display":"page"}"#),
        ]
    }

    /// With which iOS and Android open it.
    func nativeParameters(_ app: [(String, String)], secret: String) -> [(String, String)] {
        [
            ("apiKey", service.apiKey), ("authType", "signInWithRedirect"), ("eventId", "E1"), ("eid", "p"),
            ("providerId", provider.rawValue), ("sessionId", secret),
        ] + app
    }

    func open(
        _ parameters: [(String, String)],
        at path: String = handler,
        cookie: String? = nil
    ) async throws -> OpenedPage {
        let page = try OpenedPage(
            try await service.send(
                "GET",
                "\(path)?\(FormFields(pairs: parameters).text)",
                headers: cookie.map { [("Cookie", $0)] } ?? []
            )
        )
        secrets.add(page.data["state"]?.string, page.data["browser"]?.string)
        return page
    }

    /// Goes from the page to the provider, and back up to the door.
    func visit(_ page: OpenedPage) async throws -> Visit {
        let url = try #require(page.data["url"]?.string, "\(page.reply)")
        let visit = try await ScriptedBrowser().open(url, until: [service.baseURL + "/"])
        for fields in [visit.query, visit.fragment, visit.posted].compactMap(\.self) {
            secrets.add(fields["code"], fields["id_token"])
        }
        return visit
    }

    /// Opens the page again with the provider's answer; a fragment as `handler.js` posts it.
    ///
    /// - Parameters:
    ///   - browser: what `handler.js` kept, and shows where no cookie comes along.
    ///   - site: whose page does that, as browsers say it.
    func comeBack(
        _ visit: Visit,
        cookie: String?,
        browser: String? = nil,
        from site: String? = "same-origin"
    ) async throws -> OpenedPage {
        var headers = cookie.map { [("Cookie", $0)] } ?? []
        if let site { headers.append(("Sec-Fetch-Site", site)) }
        let path = String(visit.url.dropFirst(service.baseURL.count))
        var fields = visit.posted
        if path.contains("#") { fields = visit.fragment }
        let isInAddress = visit.posted == nil
        if fields != nil || browser != nil {
            var pairs = (fields ?? visit.query).pairs.map { ($0.name, $0.value) }
            if let browser { pairs.append(("identity.browser", browser)) }
            if isInAddress { pairs.append(("identity.address", path.contains("#") ? "fragment" : "query")) }
            fields = FormFields(pairs: pairs)
        }
        guard let fields else { return try OpenedPage(try await service.send("GET", path, headers: headers)) }
        headers.append(("Content-Type", "application/x-www-form-urlencoded"))
        let address = String(path.prefix { $0 != "?" && $0 != "#" })
        return try OpenedPage(
            try await service.send("POST", address, headers: headers, body: Array(fields.text.utf8))
        )
    }

    /// The whole way, up to the result.
    func result(_ parameters: [(String, String)]) async throws -> OpenedPage {
        let page = try await open(parameters)
        return try await comeBack(try await visit(page), cookie: page.cookie)
    }

    /// Hands a result to the service, as the web SDK does.
    func signIn(with event: JSON?, idToken: String? = nil) async throws -> Reply {
        secrets.add(event?["sessionId"]?.string)
        let reply = try await service.call(
            "accounts:signInWithIdp",
            [
                "requestUri": event?["urlResponse"] ?? .null, "sessionId": event?["sessionId"] ?? .null,
                "postBody": event?["postBody"] ?? .null, "idToken": JSON(idToken), "returnSecureToken": true,
                "returnIdpCredential": true,
            ]
        )
        secrets.add(from: reply)
        return reply
    }
}
