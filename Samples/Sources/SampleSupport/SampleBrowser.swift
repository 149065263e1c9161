import Foundation
import IdentityClient

/// The browser of a command: the system's, or with `--unattended` a ``DemoUser``.
public actor SampleBrowser: WebAuthenticator {
    /// What the user does at the demo provider.
    public enum Step: Sendable {
        /// Signs in with a new account of this email.
        case add(email: String)
        /// Signs in as one of the listed people.
        case choose(name: String)
        case cancel
    }

    /// The provider's page of the last sign-in.
    public private(set) var page: URL?
    /// What the provider sent to the redirect URI.
    public private(set) var callback: ProviderCallback?
    private let step: Step
    private let redirectURI: URL
    private let isUnattended: Bool

    init(_ step: Step, redirectURI: URL, isUnattended: Bool) {
        self.step = step
        self.redirectURI = redirectURI
        self.isUnattended = isUnattended
    }

    public func authenticate(
        _ begin: @Sendable (_ redirectURI: URL) async throws(AuthError) -> URL
    ) async throws(AuthError) -> ProviderCallback {
        let callback = isUnattended ? try await follow(begin) : try await show(begin)
        self.callback = callback
        return callback
    }

    /// A parameter of the page's URL.
    public func parameter(_ name: String) -> String? {
        page.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }?
            .queryItems?.first { $0.name == name }?.value
    }

    /// A URL of the demo provider, relative to its folder.
    public func providerURL(_ path: String) -> URL? {
        guard let page, page.pathComponents.count > 2 else { return nil }
        return URL(string: "/" + page.pathComponents[1...2].joined(separator: "/") + "/" + path, relativeTo: page)
    }

    private func follow(
        _ begin: @Sendable (_ redirectURI: URL) async throws(AuthError) -> URL
    ) async throws(AuthError) -> ProviderCallback {
        let page = try await begin(redirectURI)
        self.page = page
        do { return try await DemoUser(step).visit(page) } catch { throw .webAuthentication("\(error)") }
    }

    private func show(
        _ begin: @Sendable (_ redirectURI: URL) async throws(AuthError) -> URL
    ) async throws(AuthError) -> ProviderCallback {
        print("In the browser: \(step)")
        let isLoopback = redirectURI.scheme == "http"
        let loopback = LoopbackAuthenticator(host: isLoopback ? redirectURI.host ?? "127.0.0.1" : "127.0.0.1")
        return try await loopback.authenticate { (redirectURI) throws(AuthError) in
            let page = try await begin(redirectURI)
            await self.opened(page)
            return page
        }
    }

    private func opened(_ page: URL) { self.page = page }
}

extension SampleBrowser.Step: CustomStringConvertible {
    public var description: String {
        switch self {
        case .add(let email): "select Add new account, and enter \(email)"
        case .choose(let name): "select \(name)"
        case .cancel: "select Cancel"
        }
    }
}
