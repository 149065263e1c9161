#if os(macOS) || os(Linux)
public import Foundation

/// Signs in through the user's browser, which returns to a port of this machine (RFC 8252 §7.3).
///
/// For command-line programs. The project's `authorizedDomains` must contain the host, and the provider must accept the
/// redirect URI with any port. Many providers do so for `http://127.0.0.1`.
public struct LoopbackAuthenticator: WebAuthenticator {
    private let host: String
    private let port: UInt16
    private let path: String
    private let timeout: Duration
    private let open: @Sendable (URL) -> Void

    /// - Parameters:
    ///   - host: `127.0.0.1` or `localhost`, as registered at the provider.
    ///   - port: 0 for any free one; a fixed one for providers that compare it.
    ///   - path: of the redirect URI.
    ///   - timeout: how long the user may take.
    ///   - open: shows the provider's page. By default prints its URL on standard error, and opens the browser.
    public init(
        host: String = "127.0.0.1",
        port: UInt16 = 0,
        path: String = "/",
        timeout: Duration = .seconds(300),
        open: @escaping @Sendable (URL) -> Void = LoopbackAuthenticator.openBrowser
    ) {
        self.host = host
        self.port = port
        self.path = path
        self.timeout = timeout
        self.open = open
    }

    public func authenticate(
        _ begin: @Sendable (_ redirectURI: URL) async throws(AuthError) -> URL
    ) async throws(AuthError) -> ProviderCallback {
        let listener: LoopbackListener
        do { listener = try LoopbackListener(port: port, timeout: timeout) } catch {
            throw .webAuthentication("cannot listen on port \(port): \(error)")
        }
        defer { listener.close() }
        let origin = "http://\(host):\(listener.port)"
        guard let redirectURI = URL(string: origin + path) else {
            throw .invalidArgument("host or path is not valid in a URL")
        }
        let page = try await begin(redirectURI)
        let state = URLComponents(url: page, resolvingAgainstBaseURL: false)?.value(of: "state")
        open(page)
        let callback = await withTaskCancellationHandler { () -> ProviderCallback? in
            for await request in listener.requests {
                if let callback = answer(request, origin: origin, state: state) { return callback }
            }
            return nil
        } onCancel: {
            listener.close()
        }
        if let callback { return callback }
        throw Task.isCancelled ? .cancelled : .webAuthentication("the browser did not return in time")
    }

    /// Returns nil for a request that is not the response to this flow, such as one for the page's icon.
    private func answer(_ request: LoopbackRequest, origin: String, state: String?) -> ProviderCallback? {
        guard request.target.prefix(while: { $0 != "?" }) == path,
            let components = URLComponents(string: origin + request.target)
        else {
            request.respond(status: "404 Not Found", html: "")
            return nil
        }
        guard request.form != nil || components.query != nil else {
            request.respond(status: "200 OK", html: Self.fragmentPage)
            return nil
        }
        let fragment = components.value(of: Self.fragmentName)
        // Parsed, not assigned: URLComponents ends the process if a part that is assigned is malformed.
        let url = fragment.map { URL(string: "\(origin)\(path)#\($0)") } ?? components.url
        let fields = URLComponents(string: "?" + (request.form ?? fragment ?? components.percentEncodedQuery ?? ""))
        // Other programs and pages can reach the port too. Only the browser of this flow knows its state.
        guard let url, state == nil || fields?.value(of: "state") == state else {
            request.respond(status: "400 Bad Request", html: "")
            return nil
        }
        request.respond(status: "200 OK", html: Self.lastPage)
        return ProviderCallback(url: url, form: request.form)
    }

    private static let fragmentName = "identity-fragment"

    /// Browsers send no fragment.
    ///
    /// A script sends it, for response types such as `code id_token`.
    private static let fragmentPage = """
        <!doctype html><title>Signing in</title><p>Signing in…</p><script>\
        if (location.hash.length > 1)\
         location.replace("?\(fragmentName)=" + encodeURIComponent(location.hash.slice(1)));\
        </script>
        """

    private static let lastPage = """
        <!doctype html><title>Signed in</title><meta name="viewport" content="width=device-width">\
        <p>You can close this window and return to the app.</p>
        """

    /// Prints the URL on standard error, and opens it with `xdg-open` or `open` if there is one.
    @Sendable
    public static func openBrowser(_ url: URL) {
        FileHandle.standardError.write(Data("Open this page to sign in:\n\(url.absoluteString)\n".utf8))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        #if os(macOS)
        process.arguments = ["open", url.absoluteString]
        #else
        process.arguments = ["xdg-open", url.absoluteString]
        #endif
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // A machine without a browser has the printed URL.
        try? process.run()
    }
}

extension URLComponents {
    fileprivate func value(of name: String) -> String? { queryItems?.first { $0.name == name }?.value }
}
#endif
