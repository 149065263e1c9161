package import Postgres
import Logging

extension PostgresClient {
    /// A client that logs nothing.
    package convenience init(quietly configuration: Configuration) {
        self.init(configuration, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }
}
