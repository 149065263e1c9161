// Not built on Linux: Client/scripts/check-apple type-checks it there.
#if canImport(AuthenticationServices)
public import AuthenticationServices
import CryptoKit
import Foundation
import IdentityCore

/// Sign in with Apple through the system's sheet (`ASAuthorizationAppleIDProvider`).
///
/// ```swift
/// let result = try await auth.signIn(with: SignInWithApple().credential())
/// ```
@MainActor
public final class SignInWithApple: NSObject {
    private let scopes: [ASAuthorization.Scope]
    private let anchor: ASPresentationAnchor
    private var continuation: CheckedContinuation<Answer, any Error>?
    private var controller: ASAuthorizationController?

    /// The code of the last authorization, for ``User/revokeToken(authorizationCode:redirectURI:providerID:)``;
    /// valid for five minutes.
    public private(set) var authorizationCode: String?

    /// - Parameter anchor: the window that shows the sheet; by default the system chooses.
    public init(
        scopes: [ASAuthorization.Scope] = [.fullName, .email],
        anchor: ASPresentationAnchor = ASPresentationAnchor()
    ) {
        self.scopes = scopes
        self.anchor = anchor
    }

    /// Asks the user, and returns the credential with the raw nonce and, the first time, the full name.
    public func credential() async throws(AuthError) -> AuthCredential {
        let rawNonce = SymmetricKey(size: .bits256).withUnsafeBytes { Base64URL.encode($0) }
        let answer: Answer
        do { answer = try await request(nonce: rawNonce) } catch let error as ASAuthorizationError
            where error.code == .canceled
        {
            throw .cancelled
        } catch {
            throw .webAuthentication(error.localizedDescription)
        }
        guard let token = answer.identityToken else { throw .webAuthentication("Apple returned no identity token") }
        authorizationCode = answer.authorizationCode.map { String(decoding: $0, as: UTF8.self) }
        return OAuthProvider.appleCredential(
            withIDToken: String(decoding: token, as: UTF8.self),
            rawNonce: rawNonce,
            fullName: answer.fullName
        )
    }

    /// The values of Apple's credential: its class may not leave the main actor.
    private struct Answer: Sendable {
        var identityToken: Data?
        var authorizationCode: Data?
        var fullName: PersonNameComponents?

        init(_ authorization: ASAuthorization) {
            let credential = authorization.credential as? ASAuthorizationAppleIDCredential
            self.identityToken = credential?.identityToken
            self.authorizationCode = credential?.authorizationCode
            self.fullName = credential?.fullName
        }
    }

    private func request(nonce: String) async throws -> Answer {
        guard continuation == nil else { throw ASAuthorizationError(.failed) }
        let request = ASAuthorizationAppleIDProvider().createRequest()
        request.requestedScopes = scopes
        request.nonce = SHA256.hash(data: Data(nonce.utf8)).map { String(format: "%02x", $0) }.joined()
        let controller = ASAuthorizationController(authorizationRequests: [request])
        controller.delegate = self
        controller.presentationContextProvider = self
        self.controller = controller
        return try await withCheckedThrowingContinuation {
            continuation = $0
            controller.performRequests()
        }
    }

    private func finish(_ result: Result<Answer, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
        controller = nil
    }
}

extension SignInWithApple: ASAuthorizationControllerDelegate, ASAuthorizationControllerPresentationContextProviding {
    public func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        finish(.success(Answer(authorization)))
    }

    public func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithError error: any Error
    ) {
        finish(.failure(error))
    }

    public func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor { anchor }
}
#endif
