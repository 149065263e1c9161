import Development
import Foundation
import StrictJSON
import TestKit
import Testing
import Text

/// The scripted browser, on answers that a test tenant is told to give.
@Suite(.testProvider)
struct ScriptedBrowserTests {
    private func answer(
        _ tenant: TestTenant,
        _ endpoint: ProviderEndpoint,
        _ status: Int = 200,
        _ headers: [(name: String, value: String)] = [],
        html: String = "ok"
    ) {
        tenant.addFault(.answer(ProviderAnswer(status, headers: headers, .html(html))), at: endpoint, call: nil)
    }

    @Test func followsRedirectsHopByHopAndStopsWhereItIsTold() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        answer(tenant, .discovery, 302, [("Location", "../keys?a=1#part")])
        answer(tenant, .keys, 307, [("Location", "com.example.app:/back?code=1#fragment=2")])
        let browser = ScriptedBrowser()
        let visit = try await browser.open(try #require(tenant.url(.discovery)), until: ["com.example.app:"])
        #expect(visit.isStopped)
        #expect(visit.hops.map(\.status) == [302, 307])
        #expect(visit.hops.last?.url == tenant.base + "/keys?a=1#part")
        #expect(visit.query["code"] == "1")
        #expect(visit.fragment["fragment"] == "2")
    }

    @Test(arguments: [
        "https://example.com/", "http://example.com/", "com.example.app:/x", "http://127.0.0.1.example.com/",
    ])
    func neverLeavesThisComputer(_ target: String) async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        answer(tenant, .keys, 302, [("Location", target)])
        await #expect(throws: ScriptedBrowserError.self) {
            try await ScriptedBrowser().open(tenant.url(.keys) ?? "")
        }
        #expect(tenant.requests().count == 1)
    }

    @Test func givesUpOnARedirectToItself() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        answer(tenant, .keys, 302, [("Location", tenant.url(.keys) ?? "")])
        await #expect(throws: ScriptedBrowserError.self) {
            try await ScriptedBrowser().open(tenant.url(.keys) ?? "")
        }
    }

    @Test func keepsCookiesByOriginPathAndLife() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let keys = try #require(tenant.url(.keys))
        let browser = ScriptedBrowser()
        answer(tenant, .keys, 200, [("Set-Cookie", "a=1; Path=/; HttpOnly"), ("Set-Cookie", "b=2; Path=/elsewhere")])
        _ = try await browser.open(keys)
        _ = try await browser.open(keys)
        _ = try await browser.open(keys.replacing("127.0.0.1", with: "localhost"))
        #expect(tenant.requests(.keys).map { $0.header("cookie") } == [nil, "a=1", nil])
        #expect(browser.cookie("a", at: keys) == "1")
        tenant.removeFaults()
        answer(tenant, .keys, 200, [("Set-Cookie", "a=; Path=/; Max-Age=0")])
        _ = try await browser.open(keys)
        #expect(browser.cookie("a", at: keys) == nil)
    }

    @Test func leavesCookiesBehindWhenAnotherSitePosts() async throws {
        let tenant = try await TestProvider.tenant(.genericOIDC)
        let keys = try #require(tenant.url(.keys))
        let browser = ScriptedBrowser()
        let cookies = ["strict", "lax", "none"].map { (name: "Set-Cookie", value: "\($0)=1; Path=/; SameSite=\($0)") }
        answer(tenant, .keys, 200, cookies)
        _ = try await browser.open(keys)
        let elsewhere = (tenant.url(.userinfo) ?? "").replacing("127.0.0.1", with: "localhost")
        for (method, expected) in [("get", "lax=1; none=1"), ("post", "none=1")] {
            answer(tenant, .userinfo, html: #"<form method="\#(method)" action="\#(keys)"><button>Go</button></form>"#)
            let page = try await browser.open(elsewhere)
            _ = try await browser.submit(try #require(page.forms.first), on: page)
            #expect(tenant.requests(.keys).last?.header("cookie") == expected)
            tenant.removeFaults(at: .userinfo)
        }
        #expect(tenant.requests(.keys).last?.header("origin") == URLParts(elsewhere)?.origin)
    }

    @Test func readsFormsAsABrowserWould() {
        let html = """
            <style>form{}</style><form action='/a?b=1&amp;c=2' METHOD=post id=x>
            <input type=hidden name="h" value="&lt;1&gt; &quot;"><input name=t><input type=checkbox name=on checked>
            <input type="checkbox" name="off"><textarea name="area"></textarea>
            <button name="do" value="it">Do <b>it</b></button></form><form><input type=submit value=Go></form>
            """
        let forms = HTMLForm.all(in: html)
        #expect(forms.count == 2)
        #expect(forms[0].action == "/a?b=1&c=2")
        #expect(forms[0].method == "POST")
        #expect(forms[0].fields.map { "\($0.name)=\($0.value)" } == [#"h=<1> ""#, "t=", "on=on", "area="])
        #expect(forms[0].buttons.map(\.name) == ["do"] && forms[0].buttons.map(\.value) == ["it"])
        #expect(forms[0].text.contains("Do it"))
        #expect(forms[1].method == "GET")
    }

    @Test func theClockStandsStillUntilItIsMoved() {
        let clock = SteppableClock()
        let now = clock.now
        let start = now()
        clock.advance(by: 90)
        #expect(now().timeIntervalSince(start) == 90)
        clock.set(start)
        #expect(clock.seconds == Int64(start.timeIntervalSince1970))
    }
}
