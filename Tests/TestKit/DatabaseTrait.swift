import Postgres
package import Testing

/// Gives a suite a migrated database of its own, shared by its tests, or a test one that it shares with nobody, and drops
/// it whatever becomes of them.
package struct DatabaseTrait: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = false

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        // A suite has no case; a function of its own with the trait has one for each set of arguments.
        test.isSuite || testCase != nil ? self : nil
    }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let (name, conninfo) = try await TestServer.shared.makeDatabase()
        let client = PostgresClient(quietly: .patient(conninfo))
        let outcome = await Outcome {
            try await TestDatabase.$scoped.withValue(
                TestDatabase(conninfo: conninfo, client: client, isOfOneTest: testCase != nil)
            ) {
                try await function()
            }
        }
        await client.close()
        await LentClients.close(conninfo)
        try await TestServer.shared.dropDatabase(name)
        try outcome.get()
    }
}

extension Trait where Self == DatabaseTrait {
    /// A migrated database of its own, as ``TestDatabase/current``.
    package static var database: Self { Self() }
}
