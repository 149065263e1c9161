/// Asks until it is so, for what another process does and tells nobody.
///
/// - Throws: ``DidNotComeAbout`` after ``Patience/limit``.
package func waitUntil(_ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + Patience.limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw DidNotComeAbout() }
        try await Task.sleep(for: .milliseconds(10))
    }
}

package struct DidNotComeAbout: Error {
    package init() {}
}
