import HTTPTypes
import IdentityService
import Secrets
import Storage

/// Signs the person at this machine in to the console of `identity dev`, as its owner.
struct ConsoleOwnerRoute: Sendable {
    let stores: Stores

    var routes: [Route] { [Route(.get, "/console/sign-in", on: .service, errors: .consolePage, .open(signIn))] }

    private func signIn(_ call: Call) async throws -> Response {
        // With any other name, the request may come from a page that uses DNS rebinding.
        guard call.host.flatMap(OwnAddress.loopback) != nil else { throw WireError.notFound }
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
