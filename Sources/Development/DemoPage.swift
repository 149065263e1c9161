import HTTPTypes
package import IdentityService
import NIOCore

/// The page that `identity dev` shows to browsers; tools that wait for Firebase's emulator get its JSON.
package enum DemoPage {
    package static let route = Route(.get, "/", on: .service, errors: .status, .open(respond))

    private static let page = ByteBuffer(bytes: PackageResources.demo_html)

    private static let emulator = ByteBuffer(
        string: #"""
            {"authEmulator":{"ready":true,"docs":"https://firebase.google.com/docs/emulator-suite"}}
            """#
    )

    private static func respond(_ call: Call) async throws -> Response {
        var headers: HTTPFields = [.vary: "Accept"]
        guard call.headers[.accept]?.contains("text/html") == true else {
            headers[.contentType] = "application/json; charset=utf-8"
            return Response(status: .ok, headers: headers, body: emulator)
        }
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
            + "img-src https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return Response(status: .ok, headers: headers, body: page)
    }
}
