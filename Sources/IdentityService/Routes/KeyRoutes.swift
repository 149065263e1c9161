import HTTPTypes
import NIOCore
import Projects
import Sessions
import Storage

/// The public keys of ID tokens and session cookies, in the two formats that SDKs and libraries fetch, and the
/// discovery document for OpenID Connect libraries.
struct KeyRoutes {
    let configuration: ConfigurationStore
    let deployment: Deployment

    private static let account = "securetoken@system.gserviceaccount.com"
    private static let jwks = "/service_accounts/v1/jwk/\(account)"

    var routes: [Route] {
        [
            Route(
                .get,
                "/robot/v1/metadata/x509/\(Self.account)",
                on: .googleAPIs,
                errors: .status,
                .open { _ in Self.kept(configuration.signingKeys.certificatesJSON) }
            ),
            Route(
                .get,
                Self.jwks,
                on: .googleAPIs,
                errors: .status,
                .open { _ in Self.kept(configuration.signingKeys.jwksJSON) }
            ),
            Route(
                .get,
                "/identitytoolkit/v3/relyingparty/publicKeys",
                on: .googleAPIs,
                .open { _ in Self.kept(configuration.cookieKeys.certificatesJSON) }
            ),
            Route(
                .get,
                "/v1/sessionCookiePublicKeys",
                .open { _ in Self.kept(configuration.cookieKeys.jwksJSON) }
            ),
            Route(
                .get,
                "/{project}/.well-known/openid-configuration",
                on: .service,
                errors: .status,
                .open(openIDConfiguration)
            ),
        ]
    }

    /// OpenID Connect Discovery 1.0 §4 for a project whose tokens name this service as their issuer.
    ///
    /// It contains no sign-in endpoints, because the service has none for such libraries.
    private func openIDConfiguration(_ call: Call) throws -> Response {
        // Only by ID, because the document must be below exactly the issuer that it names (§4.3).
        guard let project = ProjectID(rawValue: call.parameter("project")).flatMap(configuration.snapshot.project),
            project.settings.tokenIssuer == .own, let url = deployment.publicURL(of: project)
        else { throw WireError.notFound }
        let keys = configuration.signingKeys
        var json = JSONWriter()
        json.object { json in
            json.member("issuer", url.issuer(of: project.id))
            json.member("jwks_uri", "\(url)\(Self.jwks)")
            json.member("response_types_supported", strings: ["id_token"])
            json.member("subject_types_supported", strings: ["public"])
            json.member(
                "id_token_signing_alg_values_supported",
                strings: SigningAlgorithm.allCases.filter { keys.sign(with: $0) }.map(\.rawValue)
            )
        }
        return Self.kept(json.text)
    }

    private static func kept(_ json: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: JSONWriter.contentType,
                .cacheControl: "public, max-age=\(SigningKeys.cacheSeconds), must-revalidate, no-transform",
            ],
            body: ByteBuffer(string: json)
        )
    }
}
