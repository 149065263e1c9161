import HTTPTypes
import IdentityService
import Secrets
import Storage

/// The way into the console of `identity dev`: whoever sits at this machine is its owner.
struct ConsoleOwnerRoute: Sendable {
    let stores: Stores
    /// Whether a request names this machine: another name may be a page's that had it lead here (DNS rebinding).
    let isHere: @Sendable (Call) -> Bool

    var routes: [Route] { [Route(.get, "/console/sign-in", on: .service, errors: .consolePage, .open(signIn))] }

    private func signIn(_ call: Call) async throws -> Response {
        guard isHere(call) else { throw WireError.notFound }
        let handle = RandomSource.system.handle()
        try await stores.console.openForOwner(handle, now: stores.configuration.now())
        // The page leads on, as a redirect would not: the cookie does not come along when another site's link led here.
        let next = ConsolePath.next(try call.query.value("next"))
        var page = Page(
            title: "Console",
            content: "<main><p><a href=\"\(next)\">Continue to the console</a></p></main>"
        )
        page.leadsTo = next
        page.cookies = [.console(Secret(handle), isSecure: false)]
        return page.response()
    }
}
