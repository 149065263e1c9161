import Projects
import Storage
import TestKit
import Testing

@Suite("A project's colors", .database)
struct PageColorTests {
    @Test("text on any color is readable: at least 4.5 to 1 (WCAG AA)")
    func contrast() throws {
        for red in stride(from: 0, through: 255, by: 15) {
            for green in stride(from: 0, through: 255, by: 15) {
                for blue in stride(from: 0, through: 255, by: 15) {
                    let digits = [red, green, blue].map { String($0 + 256, radix: 16).dropFirst() }.joined()
                    let color = try #require(PageColor("#\(digits)"))
                    #expect(color.text == "#\(digits)")
                    #expect(color.contrast(with: color.readableText) >= 4.5, "\(color.text)")
                }
            }
        }
        #expect(PageColor.black.contrast(with: .white) == 21)
        #expect(PageColor("#FFCC00")?.readableText == .black && PageColor("#1a56b8")?.readableText == .white)
        // The threshold lies between these two grays.
        #expect(PageColor("#757575")?.readableText == .white && PageColor("#767676")?.readableText == .black)
    }

    @Test(
        "nothing but a color gets into the settings",
        arguments: [
            "red", "#fff", "#12345", "#1234567", "123456#", "#12345g", "#12 456", "##12345", "#1234５6", "#+12345",
            "#-12345", "#0x1234", "#000000;}", "#00000\n", "\n#000000", "#000000 ", "rgb(0,0,0)", "url(#123456)",
        ]
    )
    func refuses(_ text: String) async throws {
        #expect(PageColor(text) == nil)
        try await TestService.run { service in
            let body: JSON = ["identity": ["pages": ["accentColor": .string(text)]]]
            let reply = try await service.admin(
                "config?updateMask=identity.pages.accentColor",
                body,
                method: "PATCH",
                version: "v2"
            )
            #expect(reply.error == "INVALID_CONFIG : identity.pages.accentColor must be #rrggbb.", "\(reply)")
        }
    }

    @Test("a page has its project's name and colors, and text that can be read on them")
    func shown() async throws {
        try await MailScene.run({ $0.authorizedDomains = [] }) { service in
            let (link, _) = try await service.actionMail(.verifyEmail)
            let plain = try await service.open(link)
            #expect(plain.text.contains("<header><p><bdi>\(service.project.id)</bdi></p></header>"))
            let pages: JSON = [
                "accentColor": "#FFCC00", "backgroundColor": "#123456", "darkBackgroundColor": "#000000",
            ]
            let body: JSON = ["identity": ["appName": "Tea House", "pages": pages]]
            let reply = try await service.admin(
                "config?updateMask=identity.appName,identity.pages",
                body,
                method: "PATCH",
                version: "v2"
            )
            let shown: JSON = [
                "accentColor": "#ffcc00", "backgroundColor": "#123456", "darkBackgroundColor": "#000000",
            ]
            #expect(reply["identity"]?["pages"] == shown, "\(reply)")
            let page = try await service.open(link)
            #expect(page.text.contains("<header><p><bdi>Tea House</bdi></p></header>"))
            let style =
                ":root{--accent:#ffcc00;--on-accent:#000000;--background:#123456;--on-background:#ffffff;}"
                + "@media(prefers-color-scheme:dark){:root{--accent:#ffcc00;--on-accent:#000000;"
                + "--background:#000000;--on-background:#ffffff;}}"
            #expect(page.text.contains("\(style)</style>") && !plain.text.contains("--accent:#ffcc00"))
            // A problem is of the same project, once its key is known.
            let problem = try await service.open(link.with("oobCode", "x"))
            #expect(problem.text.contains(style) && problem.text.contains("Tea House"))
            let unknown = try await service.open(link.with("apiKey", "x"))
            #expect(!unknown.text.contains(style) && !unknown.text.contains("<header>"))
        }
    }
}
