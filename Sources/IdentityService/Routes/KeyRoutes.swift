import Federation
import HTTPTypes
import NIOCore
import OAuth
import Projects
import Sessions
import Storage
import StrictJSON

import struct Foundation.Date

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
                also: ["/service_accounts/v1/metadata/x509/\(Self.account)", "/oauth2/v1/certs"]
                    .map { Route.Address(.googleAPIs, $0) },
                errors: .status,
                .open { _ in kept(configuration.signingKeys.certificatesJSON) }
            ),
            Route(
                .get,
                Self.jwks,
                on: .googleAPIs,
                also: [
                    "/robot/v1/metadata/jwk/\(Self.account)", "/service_accounts/v1/metadata/jwk/\(Self.account)",
                    "/oauth2/v3/certs",
                ].map { Route.Address(.googleAPIs, $0) },
                errors: .status,
                .open { kept(configuration.signingKeys.jwksJSON(of: algorithms(at: $0.host))) }
            ),
            Route(
                .get,
                "/identitytoolkit/v3/relyingparty/publicKeys",
                on: .googleAPIs,
                also: [Route.Address(.identityToolkit, "/v1/publicKeys")],
                .open { _ in kept(configuration.cookieKeys.certificatesJSON) }
            ),
            Route(
                .get,
                "/v1/sessionCookiePublicKeys",
                .open { _ in kept(configuration.cookieKeys.jwksJSON()) }
            ),
        ] + Self.discoveryPaths.map { Route(.get, $0, on: .service, errors: .status, .open(openIDConfiguration)) }
    }

    /// The algorithms of tokens that may be valid, of the project whose own host it is, else of all projects.
    private func algorithms(at host: String?) -> Set<SigningAlgorithm> {
        let snapshot = configuration.snapshot
        let seconds = Int64(configuration.now().timeIntervalSince1970)
        guard let host, let owner = snapshot.owner(ofHost: host)?.project, !deployment.shows(nil, at: host) else {
            return Set(SigningAlgorithm.allCases.filter { snapshot.signs(withES256: $0 == .es256, at: seconds) })
        }
        return Set(SigningAlgorithm.allCases.filter { owner.settings.signs(withES256: $0 == .es256, at: seconds) })
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
        // Whichever the project may change to.
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
            return kept(document.jsonText)
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
        return kept(json.text)
    }

    private func kept(_ json: String) -> Response {
        let now = Int64(configuration.now().timeIntervalSince1970)
        return Response(
            status: .ok,
            headers: [
                .contentType: JSONWriter.contentType,
                .cacheControl: "public, max-age=\(SigningKeys.cacheSeconds), must-revalidate, no-transform",
                .expires: HTTPDate.text(of: now + SigningKeys.cacheSeconds),
            ],
            body: ByteBuffer(string: json)
        )
    }
}
