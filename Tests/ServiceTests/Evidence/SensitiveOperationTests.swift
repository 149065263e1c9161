import Domain
import Projects
import StrictJSON
import Testing
import TestKit

@Suite("T-A15: the table of sensitive operations")
struct SensitiveOperationTests {
    @Test("every operation that is no admin's changes nothing of an account, or has a row")
    func hasARowForEach() throws {
        let document = try OpenAPIDocument.ofRepository()
        let rows = Set(SensitiveOperation.allCases.flatMap(\.operations))
        var seen: Set<String> = []
        for operation in document.operations where operation.method != "GET" {
            let description = document.description(of: operation)
            let name = try #require(description?["operationId"]?.text, "\(operation)")
            seen.insert(name)
            let schemes = (description?["security"]?.elements ?? []).flatMap(\.members).map(\.name)
            // Its scope stands in the route table (`OpenAPITests`); the console and `identity dev` know no user's session.
            let tags = (description?["tags"]?.elements ?? []).compactMap(\.text)
            if schemes == ["bearer"] || tags == ["console"] || tags == ["development"] { continue }
            let isHarmless = description?["x-harmless"]?.text?.isEmpty == false
            #expect(rows.contains(name) != isHarmless, "\(operation): either a row, or x-harmless with the reason")
        }
        #expect(rows.subtracting(seen).isEmpty, "rows of nothing")
    }

    @Test("what takes the account is sensitive in every project; methods come and go as the project says")
    func followsThePolicy() {
        for operation in SensitiveOperation.allCases {
            for policy in MethodChangePolicy.allCases {
                for hasFactor in [false, true] {
                    let isMethod = [.addMethod, .unlinkProvider].contains(operation)
                    var expected = !isMethod || policy == .recentSignIn || policy == .secondFactor && hasFactor
                    if operation == .removePasskey { expected = policy == .recentSignIn || hasFactor }
                    #expect(
                        operation.isSensitive(under: policy, hasSecondFactor: hasFactor) == expected,
                        "\(operation) \(policy) \(hasFactor)"
                    )
                }
            }
        }
    }
}
