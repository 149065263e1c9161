import Accounts
package import Projects
import Synchronization

/// The service's own address, known once it listens.
package final class OwnAddress: Sendable {
    private let url = Mutex<PublicURL?>(nil)

    package init() {}

    package var publicURL: PublicURL? { url.withLock { $0 } }

    package func listens(on port: Int) {
        url.withLock { $0 = PublicURL("http://127.0.0.1:\(port)") }
    }

    /// A deployment of one machine: pages stay on the name by which the browser calls it, because `localhost` and
    /// `127.0.0.1` are two origins.
    package var deployment: Deployment {
        Deployment(actionPath: "/emulator/action", urlAtHost: Self.loopback) { self.publicURL }
    }

    /// The URL with this host; nil if it is not this machine.
    @Sendable static func loopback(_ host: String) -> PublicURL? {
        guard let url = ContinueURI("http://\(host)"), url.isLoopback else { return nil }
        return PublicURL("http://\(host)")
    }
}
