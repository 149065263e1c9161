// What WebAuthenticationSession and SignInWithApple use of Apple's framework, as far as types go.
@_exported import Foundation

public class ASPresentationAnchor: NSObject {}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Sendable { case canceledLogin, presentationContextNotProvided, presentationContextInvalid }

    public var code: Code
    public init(_ code: Code) { self.code = code }
}

public class ASWebAuthenticationSession: NSObject {
    public init(
        url: URL,
        callbackURLScheme: String?,
        completionHandler: @escaping (URL?, (any Error)?) -> Void
    ) {}
    @MainActor public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false
    public func start() -> Bool { false }
    public func cancel() {}
}

public class ASAuthorization: NSObject {
    public struct Scope: Hashable, Sendable {
        public static let fullName = Scope()
        public static let email = Scope()
    }

    public var credential: any NSObjectProtocol { self }
}

public class ASAuthorizationAppleIDCredential: NSObject {
    public var identityToken: Data? { nil }
    public var authorizationCode: Data? { nil }
    public var fullName: PersonNameComponents? { nil }
}

public class ASAuthorizationRequest: NSObject {}

public class ASAuthorizationAppleIDRequest: ASAuthorizationRequest {
    public var requestedScopes: [ASAuthorization.Scope]?
    public var nonce: String?
}

public class ASAuthorizationAppleIDProvider: NSObject {
    public func createRequest() -> ASAuthorizationAppleIDRequest { ASAuthorizationAppleIDRequest() }
}

public struct ASAuthorizationError: Error {
    public enum Code: Sendable { case canceled, failed }

    public var code: Code
    public init(_ code: Code) { self.code = code }
}

@MainActor public protocol ASAuthorizationControllerDelegate: NSObjectProtocol {
    func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithAuthorization authorization: ASAuthorization
    )
    func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error)
}

@MainActor public protocol ASAuthorizationControllerPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor
}

@MainActor public class ASAuthorizationController: NSObject {
    public init(authorizationRequests: [ASAuthorizationRequest]) {}
    public weak var delegate: (any ASAuthorizationControllerDelegate)?
    public weak var presentationContextProvider: (any ASAuthorizationControllerPresentationContextProviding)?
    public func performRequests() {}
}
