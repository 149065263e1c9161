import Domain
import HTTPTypes
package import IdentityService
import NIOCore
import Passkeys
package import Projects
import StrictJSON
import Text

/// The page that `identity dev` shows to browsers; tools that wait for Firebase's emulator get the emulator's JSON.
package struct DemoPage: Sendable {
    private let settings: @Sendable () -> ProjectSettings?
    private let providers: @Sendable () -> [ProviderConfiguration]

    /// - Parameters:
    ///   - settings: the project's current settings.
    ///   - providers: the project's current providers; each enabled one becomes a button.
    package init(
        settings: @escaping @Sendable () -> ProjectSettings?,
        providers: @escaping @Sendable () -> [ProviderConfiguration]
    ) {
        self.settings = settings
        self.providers = providers
    }

    package var routes: [Route] {
        [
            Route(.get, "/", on: .service, errors: .status, .open(show)),
            Route(.post, "/", on: .service, errors: .status, .open(takePost)),
        ]
    }

    private static let emulator = ByteBuffer(
        string: #"""
            {"authEmulator":{"ready":true,"docs":"https://firebase.google.com/docs/emulator-suite",\#
            "apiSpec":"/emulator/openapi.json"}}
            """#
    )

    private func show(_ call: Call) async throws -> Response {
        var headers: HTTPFields = [.vary: "Accept"]
        guard call.headers[.accept]?.contains("text/html") == true else {
            headers[.contentType] = "application/json; charset=utf-8"
            return Response(status: .ok, headers: headers, body: Self.emulator)
        }
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
            + "frame-src 'self'; img-src https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return Response(status: .ok, headers: headers, body: page)
    }

    /// Handles a callback that a provider posts (`form_post`, as Apple does): the page finds its fields in the URL, as
    /// after a redirect.
    private func takePost(_ call: Call) async throws -> Response {
        guard call.body.readableBytes <= 16_384 else {
            throw WireError.invalidRequest("The form is too long.", field: nil)
        }
        let fields = FormFields(String(buffer: call.body))
        let headers: HTTPFields = [.location: "/?" + fields.text, .cacheControl: "no-store"]
        return Response(status: .seeOther, headers: headers, body: ByteBuffer())
    }

    // MARK: Buttons

    private static let html = String(decoding: PackageResources.demo_html, as: UTF8.self)
        .replacing("/* base */", with: Page.baseSheet, maxReplacements: 1)
        .replacing("<!-- mark -->", with: Page.mark.text, maxReplacements: 1)

    private var page: ByteBuffer {
        let settings = settings()
        let offers: JSONValue = [
            "signInPage": .bool(settings?.signInPage ?? false),
            // Browsers have no passkeys for an IP address.
            "passkeys": .bool(settings?.passkeys.relyingParty?.accepts(pagesAt: "http://localhost:80") ?? false),
        ]
        let html = Self.html.replacing("<!-- providers -->", with: buttons.scriptText, maxReplacements: 1)
        return ByteBuffer(string: html.replacing("<!-- offers -->", with: offers.scriptText, maxReplacements: 1))
    }

    /// `[{"id", "name"}]`: the demo providers in their order, then the ones the user added.
    private var buttons: JSONValue {
        let order = DemoProviders.all.map(\.id)
        func place(_ configuration: ProviderConfiguration) -> (Int, String) {
            (order.firstIndex(of: configuration.provider) ?? order.count, configuration.provider.rawValue)
        }
        return .array(
            providers().filter(\.enabled).sorted { place($0) < place($1) }.map { configuration in
                [
                    "id": .string(configuration.provider.rawValue),
                    "name": .string(configuration.displayName ?? configuration.provider.rawValue),
                ]
            }
        )
    }
}

extension JSONValue {
    /// The text, escaped so that it cannot close the surrounding script element.
    fileprivate var scriptText: String { jsonText.escaped(.jsonInHTML) }
}
