import Projects
import Testing

@Suite struct IdentifierTests {
    @Test(arguments: [
        "demo-1", "abcdef", "a23456", "my-project-2026", "a-----", "a" + String(repeating: "z", count: 29),
    ])
    func takesProjectID(_ text: String) {
        #expect(ProjectID(rawValue: text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "abcde", "1abcdef", "-abcdef", "Abcdef", "abcdeF", "abc_def", "abc.def", "abc def", "abcdéf", "abcdef\n",
        "abcdef\0", "ａbcdef", "a" + String(repeating: "z", count: 30), "../../x", "abc/def",
    ])
    func refusesProjectID(_ text: String) {
        #expect(ProjectID(rawValue: text) == nil)
    }
}
