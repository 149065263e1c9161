import Development
import Foundation
import Projects
import TestKit
import Testing
import Text

@Suite("How the handler page looks and what it is asked for", .database, .testProvider)
struct HandlerPageTests {
    private static let titles = ["en": "One moment …", "de": "Einen Moment …", "ja": "少々お待ちください"]

    @Test("it speaks the language of `hl`, else the browser's, there and back, and names the app in its colors")
    func languages() async throws {
        try await ProviderScene.runPages(.oidc) {
            $0.service.settings.mail.appName = "Tea <House>"
            $0.service.settings.pages.accentColor = PageColor("#ffcc00")
        } _: { scene in
            func heading(_ page: OpenedPage) -> String? {
                page.text.firstMatch(of: #/<section id="progress"><h1>([^<]*)<\/h1>/#).map { String($0.1) }
            }
            for (language, title) in Self.titles {
                let page = try await scene.open(scene.parameters() + [("hl", language)])
                #expect(heading(page) == title, "\(page.text)")
                let result = try await scene.comeBack(try await scene.visit(page), cookie: page.cookie)
                #expect(result.event != nil && heading(result) == title, "\(result.text)")
                for page in [page, result] {
                    #expect(page.text.contains(#"<html lang="\#(language)""#))
                    #expect(
                        page.text.contains("<bdi>Tea &lt;House&gt;</bdi>") && page.text.contains("--accent:#ffcc00")
                    )
                }
                let path = "\(ProviderScene.handler)?state=x&state=y"
                let refused = try await scene.service.send("GET", path, headers: [("Accept-Language", language)])
                #expect(refused.text.contains(#"<html lang="\#(language)""#))
            }
        }
    }

    @Test("it stays below 20 kB, whatever the language and however long the way", arguments: ["en", "de", "ja"])
    func size(_ language: String) async throws {
        try await ProviderScene.runPages(.google) { scene in
            let long =
                scene.parameters().filter { $0.0 != "customParameters" }
                + [("hl", language), ("customParameters", #"{"login_hint":"\#(String(repeating: "a", count: 500))"}"#)]
            let page = try await scene.open(long)
            let result = try await scene.comeBack(try await scene.visit(page), cookie: page.cookie)
            let ended = try await scene.open([("state", "x"), ("hl", language)])
            for page in [page, result, ended] {
                #expect(page.reply.response.body.count < 20_000, "\(page.reply.response.body.count) bytes")
            }
        }
    }

    @Test("HEAD neither begins a flow nor counts as the return from a provider")
    func head() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let page = try await scene.open(scene.parameters())
            let visit = try await scene.visit(page)
            let path = String(visit.url.dropFirst(scene.service.baseURL.count))
            let start = "\(ProviderScene.handler)?\(FormFields(pairs: scene.parameters()).text)"
            for path in [path, start] {
                let cookie = [("Cookie", page.cookie ?? "")]
                let reply = try await scene.service.send("HEAD", path, headers: cookie)
                #expect(
                    reply.status == 200 && reply.response.body.isEmpty && reply.response.header("set-cookie") == nil
                )
            }
            #expect(try await scene.comeBack(visit, cookie: page.cookie).event?["sessionId"]?.string != nil)
        }
    }

    @Test("an address that cannot be decoded ends on a page with a code, in the reader's language")
    func broken() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let port = try #require(scene.service.baseURL.split(separator: ":").last.flatMap { Int($0) })
            for path in [ProviderScene.handler, "/emulator/auth/handler", "/__/auth/iframe", "/emulator/auth/iframe"] {
                // Clients would mend the address.
                let answer = try await RawConnection.open(port: port) { connection in
                    try await connection.send(
                        "GET \(path)?state=% HTTP/1.1\r\nHost: x\r\nAccept-Language: de\r\nConnection: close\r\n\r\n"
                    )
                    return try await connection.readAll()
                }
                #expect(
                    answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("<bdi>auth/argument-error</bdi>"),
                    "\(path)"
                )
                #expect(answer.contains("<h1>Die Anmeldung kann nicht beginnen</h1>"), "\(answer)")
            }
        }
    }

    @Test("no script of another origin reads a page")
    func crossOrigin() async throws {
        try await ProviderScene.runPages(.oidc) { scene in
            let handler = try await scene.open(scene.parameters())
            let paths = [
                "\(ProviderScene.handler)?state=x", "/__/auth/iframe?apiKey=\(scene.service.apiKey)&appName=x",
                "/__/auth/action?mode=verifyEmail", "\(ProviderScene.handler)?%",
            ]
            var replies = [handler.reply]
            for path in paths {
                replies.append(try await scene.service.send("GET", path, headers: [("Origin", "https://evil.example")]))
            }
            for reply in replies { #expect(reply.response.header("access-control-allow-origin") == nil, "\(reply)") }
            let call = try await scene.service.send("GET", "/__/auth/gapi.js")
            #expect(call.response.header("access-control-allow-origin") == "*")
        }
    }
}
