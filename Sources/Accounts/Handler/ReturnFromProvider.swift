package import Federation
package import Linking
package import Projects
package import Secrets
import Storage

/// What the handler page does when the provider has sent the browser back: finds where the result goes.
///
/// The code is not exchanged here: the SDK hands the result to `signInWithIdp`, with the session id that it gets with it.
package struct ReturnFromProvider: Sendable {
    let parts: Parts

    package struct Returned: Sendable {
        /// Or its tenant's.
        package var project: Project
        package var tenant: TenantID
        package var visit: HandlerVisit
        /// For the SDK; nil for apps, which have their own.
        package var sessionID: String?
        /// Why the provider signed nobody in.
        package var fault: AccountsError?
        package var provider: ProviderID
    }

    /// - Parameters:
    ///   - requestURI: the address that the browser came to.
    ///   - postBody: what it posted there.
    ///   - isPosted: whether the provider had it post that, and no script of ours did in the place of an address.
    ///   - browser: what it kept.
    /// - Throws: ``HandlerError``; nobody but the person is told.
    package func callAsFunction(
        requestURI: String,
        postBody: String?,
        isPosted: Bool,
        browser: Secret
    ) async throws -> Returned {
        guard let place = BrowserSecret.place(in: browser),
            let project = parts.configuration.snapshot.project(number: place.project),
            let caller = try? Caller(project: project).entering(place.tenant)
        else { throw HandlerError.unknownFlow }
        let callback: ProviderCallback
        do {
            callback = try ProviderCallback(requestURI: requestURI, postBody: postBody)
        } catch {
            throw AccountsError.federation(error)
        }
        let returned = try await parts.flows.noteReturn(
            state: callback.state?.reveal() ?? "",
            browser: browser,
            isOver: callback.fault != nil,
            in: caller.scope,
            now: parts.now()
        )
        guard let returned, let visit = returned.flow.visit else { throw HandlerError.unknownFlow }
        // An answer that was to be posted, and stands in an address, is not the provider's (T-B9).
        guard isPosted || !returned.flow.isPosted else { throw HandlerError.unknownFlow }
        try VisitProvider(parts: parts).requireAllowed(visit.destination, caller)
        let sessionID: String? =
            switch visit.destination {
            case .popup, .redirect, .signInPage, .console: BrowserSecret.sessionID(of: browser)
            case .ios, .android: nil
            }
        return Returned(
            project: caller.project,
            tenant: caller.tenant,
            visit: visit,
            sessionID: sessionID,
            fault: callback.fault.map { .federation($0, at: returned.provider, caller) },
            provider: returned.provider
        )
    }
}
