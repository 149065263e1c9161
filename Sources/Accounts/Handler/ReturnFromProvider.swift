package import Domain
package import Federation
package import Projects
package import Secrets
import Storage

extension AccountsService { package var returnFromProvider: ReturnFromProvider { ReturnFromProvider(service: self) } }

/// Handles the provider's redirect on the handler page: finds the destination of the result.
///
/// The code is not exchanged here: the SDK passes the result to `signInWithIdp`, with the session ID that it receives.
package struct ReturnFromProvider: Sendable {
    let service: AccountsService

    package struct Returned: Sendable {
        package var project: Project
        package var visit: HandlerVisit
        /// For the SDK; nil for apps, which have their own.
        package var sessionID: String?
        /// The provider's error.
        package var fault: AccountsError?
        package var provider: ProviderID
    }

    /// - Parameters:
    ///   - requestURI: the address that the browser was sent to.
    ///   - postBody: the form that it posted there.
    ///   - isPosted: whether the provider made the browser post it, not a script of ours instead of an address.
    ///   - browser: the secret that the browser kept.
    /// - Throws: ``HandlerError``, which only the page shows.
    package func callAsFunction(
        requestURI: String,
        postBody: String?,
        isPosted: Bool,
        browser: Secret
    ) async throws -> Returned {
        guard let place = BrowserSecret.place(in: browser),
            let project = service.configuration.snapshot.project(number: place.project),
            let caller = try? Caller(project: project).entering(place.tenant)
        else { throw HandlerError.unknownFlow }
        let callback: ProviderCallback
        do {
            callback = try ProviderCallback(requestURI: requestURI, postBody: postBody)
        } catch {
            throw AccountsError.federation(error)
        }
        let returned = try await service.flows.noteReturn(
            state: callback.state?.reveal() ?? "",
            browser: browser,
            isOver: callback.fault != nil,
            in: caller.scope,
            now: service.now()
        )
        guard let returned, let visit = returned.flow.visit else { throw HandlerError.unknownFlow }
        // Another project's client, or its provider, was made to send it here (T-B3).
        guard callback.came(to: returned.flow.callbackURI) else { throw HandlerError.unknownFlow }
        // A response that should have been posted but arrives in an address is not the provider's (T-B9).
        guard isPosted || !returned.flow.isPosted else { throw HandlerError.unknownFlow }
        try VisitProvider(service: service).requireAllowed(visit.destination, caller)
        let sessionID: String? =
            switch visit.destination {
            case .popup, .redirect, .signInPage, .console: BrowserSecret.sessionID(of: browser)
            case .ios, .android: nil
            }
        return Returned(
            project: caller.project,
            visit: visit,
            sessionID: sessionID,
            fault: callback.fault.map { .federation($0, at: returned.provider, caller) },
            provider: returned.provider
        )
    }
}
