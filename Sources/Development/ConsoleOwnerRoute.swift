import HTTPTypes
import IdentityService
import Secrets
import Storage

/// Signs the person at this machine in to the console of `identity dev`, as its owner.
struct ConsoleOwnerRoute: Sendable {
    let stores: Stores
    /// Whether the request's host is this machine: with any other name it may come from a page that uses DNS rebinding.
    let isHere: @Sendable (Call) -> Bool

    var routes: [Route] { [Route(.get, "/console/sign-in", on: .service, errors: .consolePage, .open(signIn))] }

    private func signIn(_ call: Call) async throws -> Response {
        guard isHere(call) else { throw WireError.notFound }
        let handle = RandomSource.system.handle()
        try await stores.console.openForOwner(handle, now: stores.configuration.now())
        // A page that leads on instead of a redirect: after a redirect from another site's link, browsers would not
        // send the cookie.
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
