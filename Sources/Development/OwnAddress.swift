import Synchronization

/// The service's own address, known once it listens.
package final class OwnAddress: Sendable {
    private let text = Mutex<String?>(nil)

    package init() {}

    package var baseURL: String? { text.withLock { $0 } }

    package func listens(on port: Int) {
        text.withLock { $0 = "http://127.0.0.1:\(port)" }
    }
}
