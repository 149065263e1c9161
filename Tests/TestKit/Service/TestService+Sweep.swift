import Logging
import Storage

extension TestService {
    /// Deletes what has expired by this service's clock, as a node does once a minute.
    ///
    /// - Returns: the number of deleted rows.
    /// - Throws: ``TestServiceError`` in a database that other tests use too: their clocks say another time, and what has
    ///   expired here would be missing there.
    @discardableResult
    package func sweep() async throws -> Int {
        guard TestDatabase.current.isOfOneTest else {
            throw TestServiceError.unexpected("a test that sweeps needs the trait .database itself")
        }
        return try await Sweeper(database: stores.database, logger: Logger(label: "test"), now: clock.now).sweep()
    }
}
