import IdentityService
import TestKit
import Testing

@Suite("Texts of pages")
struct PageTextTests {
    @Test("every language says everything, with the same values, in words of its own", arguments: PageText.allCases)
    func sameInAllLanguages(_ key: PageText) {
        func values(_ language: PageLanguage) -> [String] {
            language.text(key).matches(of: /%[A-Z_]*%?/).map { String($0.output) }.sorted()
        }
        let names = [
            "%APP_NAME%", "%EMAIL%", "%NEW_EMAIL%", "%NUMBER%", "%COUNT%", "%CODE%", "%DATE%", "%USED%", "%PROVIDER%",
            "%CLIENT%", "%BROWSER%", "%PLATFORM%", "%HOST%",
        ]
        for language in PageLanguage.allCases {
            #expect(!language.text(key).isEmpty)
            #expect(values(language) == values(.english), "\(language) \(key)")
            #expect(Set(values(language)).isSubset(of: names), "\(language) \(key)")
        }
        let texts = PageLanguage.allCases.map { $0.text(key) }
        #expect(Set(texts).count == texts.count || ["factorSMS", "methodPasskey"].contains(key.rawValue), "\(texts)")
    }

    @Test("each language is one file, and all have the same keys")
    func oneFileEach() throws {
        let files = try Repository.files(below: "Sources/IdentityService/Pages/PageTexts", suffix: ".swift")
        #expect(files.count == PageLanguage.allCases.count)
        let keys = try files.map { file in
            try Repository.text("Sources/IdentityService/Pages/PageTexts/\(file)")
                .matches(of: /case \.(\w+):/).map { String($0.1) }
        }
        for file in keys { #expect(file == PageText.allCases.map(\.rawValue)) }
    }

    @Test(
        "the link's language counts, then the browser's, then English",
        arguments: [
            ("de", "ja", .german), ("de-AT", nil, .german), ("DE_at", nil, .german), ("ja-JP", "de", .japanese),
            (nil, nil, .english), ("", "", .english), ("xx", "ja", .japanese),
            ("tlh", "fr, ja;q=0.4, de;q=0.5", .german),
            (nil, "fr", .english), (nil, "fr;q=1, en;q=0.1", .english), (nil, "de;q=0, ja;q=0.1", .japanese),
            (nil, "de;q=x", .english), (nil, "ja , de", .japanese), (nil, "de;q=0.8,ja;q=0.9", .japanese),
            (nil, "de-CH-1901 ; q=0.9", .german), (nil, ",;,;q=,de", .german),
            (String(repeating: "d", count: 10_000), String(repeating: ",", count: 10_000), .english),
        ] as [(String?, String?, PageLanguage)]
    )
    func best(_ wanted: String?, _ header: String?, _ language: PageLanguage) {
        #expect(PageLanguage.best(wanted, accepting: header) == language)
    }
}
