// Not built on Linux: Client/scripts/check-apple type-checks it there.
#if canImport(AuthenticationServices)
public import AuthenticationServices
public import Foundation
import IdentityCore

/// Signs in through the system's browser sheet (`ASWebAuthenticationSession`).
///
/// List the redirect URI in the provider's `definition.redirectURIs`, and register it at the provider.
@MainActor
public final class WebAuthenticationSession: NSObject, WebAuthenticator {
    private let redirectURI: URL
    private let prefersEphemeralSession: Bool
    private let anchor: ASPresentationAnchor
    private var session: ASWebAuthenticationSession?

    /// - Parameters:
    ///   - redirectURI: with a scheme of the app, such as `com.example.app:/callback`.
    ///   - prefersEphemeralSession: whether the browser shares no cookies with Safari.
    ///   - anchor: the window that shows the sheet; by default the system chooses.
    public init(
        redirectURI: URL,
        prefersEphemeralSession: Bool = false,
        anchor: ASPresentationAnchor = ASPresentationAnchor()
    ) {
        self.anchor = anchor
        self.redirectURI = redirectURI
        self.prefersEphemeralSession = prefersEphemeralSession
    }

    public nonisolated func authenticate(
        _ begin: @Sendable (_ redirectURI: URL) async throws(AuthError) -> URL
    ) async throws(AuthError) -> ProviderCallback {
        let page = try await begin(redirectURI)
        do {
            return ProviderCallback(url: try await show(page))
        } catch let error as ASWebAuthenticationSessionError where error.code == .canceledLogin {
            throw .cancelled
        } catch {
            throw .webAuthentication(error.localizedDescription)
        }
    }

    private func show(_ page: URL) async throws -> URL {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A session that does not start may call its handler, or not.
                let waiting = Protected<CheckedContinuation<URL, any Error>?>(continuation)
                let finish: @Sendable (Result<URL, any Error>) -> Void = { result in
                    waiting.withLock { $0.take() }?.resume(with: result)
                }
                let session = ASWebAuthenticationSession(
                    url: page,
                    callbackURLScheme: redirectURI.scheme,
                    // The system calls it on any thread.
                    completionHandler: { @Sendable url, error in
                        let failure = error ?? ASWebAuthenticationSessionError(.canceledLogin)
                        finish(url.map { .success($0) } ?? .failure(failure))
                    }
                )
                session.presentationContextProvider = self
                session.prefersEphemeralWebBrowserSession = prefersEphemeralSession
                self.session = session
                if !session.start() {
                    finish(.failure(ASWebAuthenticationSessionError(.presentationContextInvalid)))
                }
            }
        } onCancel: {
            Task { @MainActor in session?.cancel() }
        }
    }
}

extension WebAuthenticationSession: ASWebAuthenticationPresentationContextProviding {
    public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
}
#endif
