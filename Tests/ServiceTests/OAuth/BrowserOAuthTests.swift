import Projects
import TestKit
import Testing

/// What users see of other applications, in a real browser; see `PagesInChromium`.
@Suite("Applications' pages in Chromium", .database, .serialized)
struct BrowserOAuthTests {
    private typealias Visit = PagesInChromium.Visit
    private typealias Step = PagesInChromium.Step

    @Test("consent and the page for devices, in every language, by keyboard, with and without scripts")
    func pages() async throws {
        let device = "urn:ietf:params:oauth:grant-type:device_code"
        let client = OAuthScene.confidentialClient([
            "policy_uri": "https://tea.example.com/privacy", "tos_uri": "https://tea.example.com/terms",
            "grant_types": ["authorization_code", "refresh_token", .string(device)],
        ])
        try await TestSlots.services.use {
            try await OAuthScene.run(client) { scene in
                _ = try await scene.service.signUp(OAuthScene.email)
                let signIn = [
                    Step(fill: ["#email": OAuthScene.email]), Step(fill: ["#password": "correct horse"]),
                    Step(press: "button[value=signIn]"),
                ]
                let scope = "openid profile email phone offline_access tea.brew"
                var visits = ["en", "de", "ja"].map { language in
                    let change: [(String, String?)] = [
                        ("scope", scope), ("ui_locales", language), ("resource", "https://mcp.example.com/tea"),
                    ]
                    return Visit(
                        name: "consent-\(language)",
                        url: scene.service.baseURL + scene.path(change),
                        steps: signIn + [Step(says: OAuthScene.email), Step(press: "button[value=changeAccount]")]
                    )
                }
                let page = scene.issuer + "/oauth/device"
                let wrong = [Step(fill: ["#user_code": "BCDF-GHJK"]), Step(press: "main form button")]
                visits.append(Visit(name: "device", url: page, steps: wrong))
                let broken = scene.service.baseURL + scene.path([("redirect_uri", "https://evil.example/")])
                visits.append(Visit(name: "consent-broken", url: broken))
                try await PagesInChromium.look(at: visits)
                for variant in ["desktop", "phone-dark"] {
                    let asked = try await scene.post("device_authorization", [("scope", scope)])
                    let code = asked["user_code"]?.string ?? ""
                    let steps =
                        [Step(fill: ["#user_code": code]), Step(press: "main form button")] + signIn
                        + [Step(says: code), Step(press: "button[value=allow]"), Step(heading: "Device connected")]
                    try await PagesInChromium.look(at: [
                        Visit(name: "device-allowed", url: page, variants: [variant], steps: steps)
                    ])
                }
            }
        }
    }
}
