import HTTPTypes
import Outbound
import Synchronization

/// One request to a provider for the display of a configuration test, without secrets.
package struct ProviderRequest: Sendable, Hashable {
    package var method: String
    /// Without query and fragment.
    package var address: String
    /// Nil if there was no response.
    package var status: Int?
    package var duration: Duration

    /// Records a task's requests; nil for none, as in every real sign-in.
    @TaskLocal package static var record: Record?

    package final class Record: Sendable {
        private let noted = Mutex<[ProviderRequest]>([])

        package init() {}

        package var requests: [ProviderRequest] { noted.withLock { $0 } }

        fileprivate func note(_ request: ProviderRequest) { noted.withLock { $0.append(request) } }
    }

    static func note(_ request: OutboundRequest, status: Int?, _ duration: Duration) {
        guard let record else { return }
        let address = request.url.prefix { $0 != "?" && $0 != "#" }
        record.note(
            ProviderRequest(
                method: request.method.rawValue,
                address: String(address),
                status: status,
                duration: duration
            )
        )
    }
}
