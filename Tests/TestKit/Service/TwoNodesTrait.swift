package import Testing

/// Lets each service of a test be two nodes of one project, which take its calls in turns: for things that meet.
package struct TwoNodesTrait: TestTrait, TestScoping {
    @TaskLocal static var isOn = false

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$isOn.withValue(true) { try await function() }
    }
}

extension Trait where Self == TwoNodesTrait {
    package static var twoNodes: TwoNodesTrait { TwoNodesTrait() }
}

/// The node that takes every other call.
struct OtherNode: Sendable {
    let node: ServiceNode
    let turns = Counter()
}
