#if Hummingbird
public import Hummingbird
public import IdentityServer

/// A request context with the token of the signed-in user.
public protocol IdentityRequestContext: RequestContext {
    /// Set by ``IdentityMiddleware``; nil on routes without it.
    var token: VerifiedToken? { get set }
}

/// Verifies the ID token of `Authorization: Bearer`, or a session cookie.
///
/// ```swift
/// router.group("notes")
///     .add(middleware: IdentityMiddleware(verifier: verifier))
///     .get { _, context in "Notes of \(context.token?.uid ?? "")" }
/// ```
///
/// Responds with 401 to a request without a valid token, and with 503 while no keys can be fetched.
public struct IdentityMiddleware<Context: IdentityRequestContext>: RouterMiddleware {
    private let verifier: TokenVerifier
    private let cookie: String?

    /// - Parameters:
    ///   - verifier: of the project.
    ///   - cookie: the name of the session cookie that is accepted in place of the header; nil for none. Protect
    ///     routes that take a cookie against cross-site requests.
    public init(verifier: TokenVerifier, cookie: String? = nil) {
        self.verifier = verifier
        self.cookie = cookie
    }

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        do throws(TokenError) {
            context.token = try await token(of: request)
        } catch .keysUnavailable {
            throw HTTPError(.serviceUnavailable)
        } catch {
            throw refusal(#"Bearer error="invalid_token""#)
        }
        guard context.token != nil else { throw refusal("Bearer") }
        return try await next(request, context)
    }

    private func token(of request: Request) async throws(TokenError) -> VerifiedToken? {
        // The scheme's case does not matter (RFC 9110 §11.1).
        if let header = request.headers[.authorization], header.prefix(7).lowercased() == "bearer " {
            return try await verifier.verify(idToken: String(header.dropFirst(7)))
        }
        guard let cookie, let value = request.cookies[cookie]?.value else { return nil }
        return try await verifier.verify(sessionCookie: value)
    }

    private func refusal(_ challenge: String) -> HTTPError {
        HTTPError(.unauthorized, headers: [.wwwAuthenticate: challenge])
    }
}
#endif
