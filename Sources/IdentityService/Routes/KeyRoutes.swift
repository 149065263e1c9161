import HTTPTypes
import NIOCore
import Sessions

/// The public keys that verify ID tokens and session cookies, in the two forms that SDKs and libraries fetch.
struct KeyRoutes {
    let signingKeys: @Sendable () -> SigningKeys
    let cookieKeys: @Sendable () -> SigningKeys

    /// Seconds that a copy may be kept: a new key is published for longer than that before it signs.
    private static let maximumAge = 3600

    var routes: [Route] {
        let account = "securetoken@system.gserviceaccount.com"
        return [
            Route(
                .get,
                "/robot/v1/metadata/x509/\(account)",
                on: .googleAPIs,
                errors: .status,
                .open { _ in
                    Self.response(signingKeys().certificatesJSON)
                }
            ),
            Route(
                .get,
                "/service_accounts/v1/jwk/\(account)",
                on: .googleAPIs,
                errors: .status,
                .open { _ in
                    Self.response(signingKeys().jwksJSON)
                }
            ),
            Route(
                .get,
                "/identitytoolkit/v3/relyingparty/publicKeys",
                on: .googleAPIs,
                .open { _ in
                    Self.response(cookieKeys().certificatesJSON)
                }
            ),
            Route(
                .get,
                "/v1/sessionCookiePublicKeys",
                .open { _ in
                    Self.response(cookieKeys().jwksJSON)
                }
            ),
        ]
    }

    private static func response(_ json: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: JSONWriter.contentType,
                .cacheControl: "public, max-age=\(maximumAge), must-revalidate, no-transform",
            ],
            body: ByteBuffer(string: json)
        )
    }
}
