import IdentityService
import Storage

/// What takes the calls of a test.
struct ServiceNode: Sendable {
    let baseURL: String
    let responder: ServiceResponder
    let configuration: ConfigurationStore

    init(_ service: TestService) {
        baseURL = service.baseURL
        responder = service.assembly.responder
        configuration = service.stores.configuration
    }

    /// As it stands in a URL: `127.0.0.1:8080`.
    var host: String { String(baseURL.drop { $0 != "/" }.dropFirst(2)) }
}
