import Federation
import HTTPTypes
import NIOCore
import OAuth
import Projects
import Sessions
import Storage
import StrictJSON

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
        ] + Self.discoveryPaths.map { Route(.get, $0, on: .service, errors: .status, .open(openIDConfiguration)) }
    }

    /// OpenID Connect Discovery 1.0 §4 and RFC 8414 §3.1, and what clients make of the two: some know only one document,
    /// and some insert the well-known part of the one where the other appends it.
    private static let discoveryPaths = ["openid-configuration", "oauth-authorization-server"].flatMap {
        ["/{project}/.well-known/\($0)", "/.well-known/\($0)/{project}"]
    }

    /// The document of a project that is an OpenID provider, or whose tokens name this service as their issuer; without
    /// endpoints if it is not the former.
    private func openIDConfiguration(_ call: Call) throws -> Response {
        // Only by ID, because the document must be below exactly the issuer that it names (§4.3).
        guard let project = ProjectID(rawValue: call.parameter("project")).flatMap(configuration.snapshot.project),
            let url = deployment.publicURL(of: project), deployment.shows(project.id, at: call.host)
        else { throw WireError.notFound }
        let keys = configuration.signingKeys
        let (issuer, keysURL) = (url.issuer(of: project.id), "\(url)\(Self.jwks)")
        let algorithms = SigningAlgorithm.allCases.filter { keys.sign(with: $0) }.map(\.rawValue)
        let oauth = project.settings.oauth
        guard !oauth.isEnabled else {
            let document = ProviderMetadata.document(
                issuer: issuer,
                keys: keysURL,
                algorithms: algorithms,
                clientAlgorithms: SignatureAlgorithm.names,
                oauth
            )
            return Self.kept(document.jsonText)
        }
        guard project.settings.tokenIssuer == .own else { throw WireError.notFound }
        var json = JSONWriter()
        json.object { json in
            json.member("issuer", issuer)
            json.member("jwks_uri", keysURL)
            json.member("response_types_supported", strings: ["id_token"])
            json.member("subject_types_supported", strings: ["public"])
            json.member("id_token_signing_alg_values_supported", strings: algorithms)
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
