import Domain
import Federation
import Foundation
import Logging
import OAuth
import Projects
import Secrets
import Sessions
import Storage
import StrictJSON
import Text

extension AccountsService {
    /// A client of the caller's project: a registered one, or one whose ID is the URL of its document.
    ///
    /// - Parameter mayBeNew: whether an unknown client's document is read.
    /// - Throws: ``OAuthError`` if the project is no OpenID provider, or has no such client; with one text for every
    ///   cause, because anybody may name a URL.
    func client(_ id: String?, mayBeNew: Bool = true, _ caller: Caller) async throws -> OAuthClient {
        let settings = caller.project.settings.oauth
        let unknown = OAuthError(.invalidClient, "The client is unknown")
        guard settings.isEnabled, let id, !id.isEmpty else { throw unknown }
        let known = try await stores.oauthClients.find(id, of: caller.project.id)
        if let known, known.client.origin != .document {
            guard known.client.origin != .blocked else { throw unknown }
            return known.client
        }
        guard settings.allowsDocuments, known != nil || mayBeNew,
            ClientDocument.isID(id, allowsLoopback: federation.letsStrangersUseLoopback)
        else { throw unknown }
        let age = known.map { now().timeIntervalSince($0.updatedAt) } ?? .infinity
        if let known, age < ClientDocument.freshSeconds { return known.client }
        // While its site is down or odd, the client is what it was, for a day.
        let bridged = age < ClientDocument.staleSeconds ? known?.client : nil
        let read: OAuthClient?
        do {
            read = try await readDocument(id, caller)
        } catch let error where error is FederationError || error is RateLimitReached {
            if let bridged { return bridged }
            throw error is RateLimitReached ? error : unknown
        }
        if let read {
            let end = now().addingTimeInterval(ClientDocument.staleSeconds)
            // Otherwise an admin has blocked or changed it meanwhile.
            guard try await stores.oauthClients.keep(read, until: end, in: caller.project.id) else { throw unknown }
            return read
        }
        if let known, try await !stores.oauthClients.miss(known, in: caller.project.id), let bridged { return bridged }
        throw unknown
    }

    /// - Returns: nil if it is gone, or another client's is in its place.
    /// - Throws: ``FederationError`` if that cannot be known now.
    private func readDocument(_ id: String, _ caller: Caller) async throws -> OAuthClient? {
        try await stores.rateLimits.take(clientLimits(caller))
        let answer = try await federation.calling(for: caller.project.id) { () async throws(FederationError) in
            try await federation.clientDocument(at: id, atMost: ClientDocument.maximumSize)
        }
        let body: [UInt8]
        switch answer {
        case .found(let found): body = found
        case .gone: return nil
        case .unreachable: throw FederationError.issuerUnreachable
        }
        do throws(OAuthError) {
            return OAuthClient(id: id, metadata: try ClientDocument.metadata(body, of: id), origin: .document)
        } catch {
            Logger.current.info("Refused a client's document", metadata: ["error": "\(error)"])
            if ClientDocument.isAnothers(body, than: id) { return nil }
            throw FederationError.issuerUnreachable
        }
    }

    /// The claims of an ID token that an issuer of ours made for an application, expired or not; nil for anything else.
    func idToken(_ text: String, of issuer: String) -> JSONObject? {
        let claims = configuration.signingKeys.payload(of: text, type: "JWT")
        return claims?["iss"]?.string == issuer ? claims : nil
    }

    /// `iss` of applications' tokens: `{publicURL}/{project}`.
    func applicationIssuer(of project: Project) throws -> String {
        guard let url = deployment.publicURL(of: project) else { throw NoPublicURL() }
        return url.issuer(of: project.id)
    }

    /// Whether it is the page of ours to which the sign-in page leads back during an authorization.
    func isAuthorizationPage(_ url: String, _ caller: Caller) -> Bool {
        guard caller.project.settings.oauth.isEnabled, let issuer = try? applicationIssuer(of: caller.project) else {
            return false
        }
        let start = issuer + ProviderMetadata.Endpoint.goOn.rawValue + "?visit="
        return url.utf8.count <= 16_384 && url.hasPrefix(start)
            && url.dropFirst(start.count).consists(of: .alphanumerics + "-_")
    }

    /// Where the sign-in page may lead back to: an app, or our own authorization page.
    func returnURL(_ text: String?, _ caller: Caller) throws(AccountsError) -> String? {
        if let text, isAuthorizationPage(text, caller) { return text }
        return try continueURL(text, caller)
    }

    /// The tokens of an application's session.
    func applicationTokens(
        of client: OAuthClient,
        _ account: Account,
        _ session: StoredSession,
        _ grant: ApplicationGrant,
        _ caller: Caller
    ) throws -> ApplicationTokens {
        ApplicationTokens(
            issuer: try applicationIssuer(of: caller.project),
            client: client.id,
            account: account.id,
            session: session.id.rawValue,
            grant: grant,
            authTime: session.authTime,
            issuedAt: seconds,
            methods: AuthenticationMethods.names(
                of: session.signInProvider,
                secondFactor: session.secondFactor?.kind
            )
        )
    }

    /// Signs a payload with the project's algorithm.
    func sign(_ payload: [UInt8], type: String?, of project: Project) throws -> String {
        let algorithm: SigningAlgorithm = project.settings.signWithES256 ? .es256 : .rs256
        guard let key = configuration.signingKeys.signer(for: algorithm, at: seconds) else { throw NoSigningKey() }
        return try key.token(of: payload, type: type)
    }

    /// An access token of the caller's project, with verified signature, issuer and time; nil for anything else.
    ///
    /// Before a token is refused, keys that another node created less than half a second ago are loaded.
    func accessToken(_ text: Secret, _ caller: Caller) async throws -> AccessTokenContent? {
        let type = ApplicationTokens.accessTokenType
        guard CompactJWS(text.reveal()) != nil else { return nil }
        let payload = await configuration.findingNew(from: caller.addressPrefix) {
            configuration.signingKeys.payload(of: text.reveal(), type: type, cache: accessTokens)
        }
        guard let content = payload.flatMap(AccessTokenContent.init),
            content.issuer == (try applicationIssuer(of: caller.project)),
            content.issuedAt <= seconds + IDTokenVerifier.clockSkew, seconds < content.expiresAt
        else { return nil }
        return content
    }

    /// The account of the live session that an access token names; nil if it or its client has ended.
    func account(of token: AccessTokenContent, _ caller: Caller) async throws -> Account? {
        guard let id = SessionID(rawValue: token.session),
            try await stores.oauthClients.client(token.client, of: caller.project.id) != nil,
            let found = try await accounts.find(token.account, session: id, in: caller.scope),
            // An exchanged token is of the user's own session.
            let session = found.session, token.isExchanged || session.client == token.client,
            session.isAlive(of: found.account)
        else { return nil }
        return found.account
    }
}
