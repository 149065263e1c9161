package import Federation
package import Foundation
import Projects
package import Secrets
import Storage
import Text

extension AccountsService { package var redirectResult: RedirectResult { RedirectResult(service: self) } }

/// The result of a redirect on its way from the handler page to the SDK's frame in the app's page.
///
/// Storage of the service's origin carries it too, but browsers partition a frame's storage: WebKit by the origin of the
/// page on top, so that it is empty even on the app's own site. Cookies are partitioned by site at most.
package struct RedirectResult: Sendable {
    let service: AccountsService

    /// The largest result that is kept, in bytes, because anybody can post one: the page's own storage takes others.
    private static let maximumSize = 16_384
    /// How long the page may take to load, in seconds.
    package static let lifetime: TimeInterval = 600

    /// The frame that may take it: of this key and app, in a page of this origin.
    package struct Frame: Sendable {
        var apiKey: String
        var appName: String
        var origin: String

        /// - Parameter origin: of the page that has the frame, as browsers write it.
        package init(apiKey: String, appName: String, origin: String) {
            (self.apiKey, self.appName, self.origin) = (apiKey, appName, origin)
        }

        /// Nil unless the visit ends with a redirect.
        init?(of visit: HandlerVisit) {
            guard case .redirect(let apiKey, let appName, let url) = visit.destination,
                let origin = URLParts(url)?.origin
            else { return nil }
            self.init(apiKey: apiKey, appName: appName, origin: origin)
        }

        var text: String { [apiKey, appName, origin].joined(separator: "\n") }
    }

    /// Keeps the result of a visit, encrypted.
    ///
    /// - Returns: the secret for the browser, which alone can take it; nil unless the visit ends with a redirect, and for a
    ///   large result.
    package func keep(_ event: [UInt8], of visit: HandlerVisit, _ caller: Caller) async throws -> Secret? {
        guard let frame = Frame(of: visit), event.count <= Self.maximumSize else { return nil }
        let secret = BrowserSecret.make(for: caller, service.random)
        try await service.flows.insert(
            event,
            for: .redirectResult,
            secret: secret,
            boundTo: frame.text,
            in: caller.scope,
            now: service.now(),
            lifetime: Self.lifetime
        )
        return secret
    }

    /// - Returns: nil if it is unknown, expired, taken, or for another frame.
    package func take(_ secret: Secret, in frame: Frame) async throws -> [UInt8]? {
        guard let place = BrowserSecret.place(in: secret),
            let project = service.configuration.snapshot.project(number: place.project)
        else { return nil }
        return try await service.flows.take(
            .redirectResult,
            secret: secret,
            boundTo: frame.text,
            in: Scope(project: project.id, tenant: place.tenant),
            now: service.now()
        )
    }
}
