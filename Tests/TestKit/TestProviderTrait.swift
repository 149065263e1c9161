package import Development
import struct Foundation.Date
import Secrets
import StrictJSON
package import Testing

/// Runs a test provider around a suite, or around a single test; ``TestProvider/current`` names it.
///
/// Tests of a suite share the server and have tenants of their own.
package struct TestProviderTrait: SuiteTrait, TestTrait, TestScoping {
    /// One server for a suite, not one for each of its tests.
    package var isRecursive: Bool { false }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        Started.count(.provider)
        let provider = TestProvider()
        try await provider.serve {
            try await CurrentTestProvider.$provider.withValue(provider) { try await function() }
        }
    }
}

private enum CurrentTestProvider {
    @TaskLocal static var provider: TestProvider?
}

extension TestProvider {
    /// The server of the suite.
    ///
    /// - Throws: when the suite lacks `.testProvider`.
    package static var current: TestProvider {
        get throws {
            guard let provider = CurrentTestProvider.provider else { throw MissingTestProvider() }
            return provider
        }
    }

    /// A tenant of the suite's server, with a name of its own.
    ///
    /// Its clock runs, but not away from that of the service around, which stands: on a slow machine its tokens would be of
    /// the future there.
    package static func tenant(
        _ personality: ProviderPersonality,
        name: String = "tenant"
    ) async throws -> TestTenant {
        let now: (@Sendable () -> Date)? =
            if let clock = SteppableClock.ofService { { min(Date(), clock.current.addingTimeInterval(30)) } } else {
                nil
            }
        return try await current.addTenant(
            name + "-" + RandomSource.system.text(8, of: "abcdefghijklmnopqrstuvwxyz"),
            personality,
            now: now
        )
    }
}

package struct MissingTestProvider: Error {}

extension Trait where Self == TestProviderTrait {
    package static var testProvider: TestProviderTrait { TestProviderTrait() }
}
