import StrictJSON
import Text

extension TenantState {
    /// The userinfo endpoint (OIDC Core §5.3), or an OAuth2 provider's profile.
    mutating func userinfo(_ request: RecordedRequest) -> ProviderAnswer {
        switch access(request) {
        case .refused(let answer): answer
        case .granted where !personality.approvesUserInfo:
            ProviderAnswer(403, .json(["Error": ["Message": "Your Request was Forbidden"]]))
        case .granted(let grant):
            ProviderAnswer(
                personality.answersAskedFields
                    ? askedFields(personality.profile(grant.user, Set(grant.scopes)), request)
                    : personality.profile(grant.user, Set(grant.scopes))
            )
        }
    }

    /// GitHub's `GET /user/emails`, in pages of `per_page`.
    mutating func emails(_ request: RecordedRequest) -> ProviderAnswer {
        switch access(request) {
        case .refused(let answer): return answer
        case .granted(let grant):
            guard grant.scopes.contains("user:email") || grant.scopes.contains("user") else {
                return ProviderAnswer(403, .json(["message": "Resource not accessible by integration"]))
            }
            return page(of: addresses(grant.user), request)
        }
    }

    private func addresses(_ user: TestUser) -> [TestUser.Address] {
        if let emails = user.emails { return emails }
        return user.email.map { [.init($0, primary: true, verified: user.emailVerified, visibility: "private")] } ?? []
    }

    private func page(of addresses: [TestUser.Address], _ request: RecordedRequest) -> ProviderAnswer {
        let query = FormFields(request.query)
        let size = min(max(query["per_page"].flatMap { Int($0) } ?? 30, 1), 100)
        let number = max(query["page"].flatMap { Int($0) } ?? 1, 1)
        let rest = addresses.dropFirst((number - 1) * size)
        let entries = rest.prefix(size).map { address -> JSONValue in
            [
                "email": .string(address.email), "primary": .bool(address.primary), "verified": .bool(address.verified),
                "visibility": address.visibility.map { .string($0) } ?? .null,
            ]
        }
        var answer = ProviderAnswer(.json(.array(Array(entries))))
        if rest.count > size, let url = url(.emails) {
            answer.headers.append(("Link", "<\(url)?per_page=\(size)&page=\(number + 1)>; rel=\"next\""))
        }
        return answer
    }

    private enum Access {
        case granted(TokenGrant)
        case refused(ProviderAnswer)
    }

    private mutating func access(_ request: RecordedRequest) -> Access {
        if personality.requiresUserAgent, request.header("user-agent")?.isEmpty ?? true {
            violate(.userAgent, request.endpoint, "no User-Agent")
            return .refused(ProviderAnswer(403, .text("Request forbidden by administrative rules.")))
        }
        let words = (request.header("authorization") ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, personality.accessTokenSchemes.contains(words[0].lowercased()) else {
            violate(.accessToken, request.endpoint, "no access token in the Authorization header")
            return .refused(unauthorized)
        }
        guard let grant = living(String(words[1])) else { return .refused(unauthorized) }
        if personality.requiresAppSecretProof,
            let refusal = checkAppSecretProof(request, token: String(words[1]), client: grant.client)
        {
            return .refused(refusal)
        }
        return .granted(grant)
    }

    private var unauthorized: ProviderAnswer {
        ProviderAnswer(
            401,
            headers: [("WWW-Authenticate", #"Bearer error="invalid_token""#)],
            .json(["error": "invalid_token", "message": "Bad credentials"])
        )
    }

    /// The revocation endpoint (RFC 7009): 200 for any token, known or not.
    mutating func revoke(_ request: RecordedRequest) -> ProviderAnswer {
        guard request.method == "POST" else {
            violate(.method, .revocation, request.method)
            return ProviderAnswer(405, .text("POST only"))
        }
        let fields = request.fields
        // Google asks for the token alone.
        if personality.clientAuthentication != .basicOrPost, authenticate(request, fields) == nil {
            return failure(.invalidClient, request)
        }
        guard let token = fields["token"] else {
            violate(.missingParameter, .revocation, "token")
            return failure(.invalidRequest, request)
        }
        if let grant = accessTokens[token] ?? refreshTokens[token] {
            revokeGrant(subject: grant.user.subject, client: grant.client)
        }
        return ProviderAnswer(.empty)
    }

    /// Ends what a person granted, to one app or to all: tokens and codes die, and the next consent is the first again.
    mutating func revokeGrant(subject: String, client: String? = nil) {
        func isMeant(_ owner: TestUser, _ app: String) -> Bool {
            owner.subject == subject && (client == nil || client == app)
        }
        accessTokens = accessTokens.filter { !isMeant($0.value.user, $0.value.client) }
        refreshTokens = refreshTokens.filter { !isMeant($0.value.user, $0.value.client) }
        codes = codes.filter { !isMeant($0.value.user, $0.value.client) }
        consents = consents.filter { $0.key.subject != subject || client != nil && $0.key.client != client }
    }
}
