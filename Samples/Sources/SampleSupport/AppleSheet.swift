import Foundation
import IdentityClient

/// In place of Apple's sheet: a page of the demo Apple, whose form has what the sheet returns.
///
/// Only for tests. An app uses `SignInWithApple().credential()`.
public struct AppleSheet: Sendable {
    /// As `ASAuthorizationAppleIDCredential`.
    public struct Answer: Sendable {
        public let credential: AuthCredential
        /// `authorizationCode`.
        public let code: String
        /// Of the page; a code of Apple's sheet has none.
        public let redirectURI: URL
        /// Nil unless it is the first consent.
        public let fullName: PersonNameComponents?
    }

    private let page: URL
    private let browser: SampleBrowser

    /// - Parameter page: the demo Apple's authorization endpoint.
    public init(page: URL, browser: SampleBrowser) {
        self.page = page
        self.browser = browser
    }

    public func show() async throws -> Answer {
        let state = UUID().uuidString
        let callback = try await browser.authenticate { (redirectURI) throws(AuthError) in
            let query = [
                "client_id": "identity-demo", "redirect_uri": redirectURI.absoluteString,
                "nonce": Self.hashedNonce, "state": state, "response_type": "code id_token",
                "response_mode": "form_post", "scope": "name email",
            ]
            var components = URLComponents(url: page, resolvingAgainstBaseURL: true)
            components?.queryItems = query.map { URLQueryItem(name: $0.key, value: $0.value) }
            guard let url = components?.url else { throw .invalidArgument("page") }
            return url
        }
        let fields = URLComponents(string: "?" + (callback.form ?? ""))?.queryItems ?? []
        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        guard let idToken = field("id_token"), let code = field("code") else { throw Failure("Apple sent no tokens") }
        let user = try field("user").map { try JSONDecoder().decode(Person.self, from: Data($0.utf8)) }
        var fullName: PersonNameComponents?
        if let user {
            fullName = PersonNameComponents()
            fullName?.givenName = user.name.firstName
            fullName?.familyName = user.name.lastName
        }
        return Answer(
            credential: OAuthProvider.appleCredential(
                withIDToken: idToken,
                rawNonce: Self.rawNonce,
                fullName: fullName
            ),
            code: code,
            redirectURI: callback.url,
            fullName: fullName
        )
    }

    private static let rawNonce = "sample-nonce"
    /// Its SHA-256, so that the samples need no cryptography.
    ///
    /// An app needs a new nonce each time.
    private static let hashedNonce = "f1562bff1586b95b5ecda49029cef5702e61905cbc6045eca8df131e4dd11f11"

    private struct Person: Decodable {
        struct Name: Decodable {
            var firstName: String?
            var lastName: String?
        }

        var name: Name
    }
}
