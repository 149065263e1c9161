package import Projects
package import Text

/// An authorization request (OAuth 2.1 §4.1.1, OpenID Connect Core 1.0 §3.1.2.1), checked for a client.
package struct AuthorizationRequest: Sendable, Hashable, Codable {
    package let client: String
    package let redirectURI: String
    package let state: String?
    package let codeChallenge: String
    /// Those that the project knows and the client may have; others are left out (RFC 6749 §3.3).
    package private(set) var scopes: [String]
    package private(set) var resources: [String]
    package let nonce: String?
    package let prompt: Set<Prompt>
    /// Seconds since the sign-in; nil for any.
    package let maxAge: Int64?
    /// `dpop_jkt` (RFC 9449 §10): the thumbprint of the key to which the code is bound.
    package private(set) var keyThumbprint: String?
    /// `login_hint`, as sent; else the email of ``subject``.
    package let loginHint: String?
    /// The user whom `id_token_hint` names: nobody else's sign-in is an answer (OpenID Connect Core 1.0 §3.1.2.2).
    package let subject: String?
    /// The first of `ui_locales`.
    package let language: String?

    /// What a user grants at another device (RFC 8628), which has no address to redirect to.
    package init(deviceOf client: OAuthClient, _ grant: ApplicationGrant) {
        self.client = client.id
        (redirectURI, state, codeChallenge) = ("", nil, "")
        (scopes, resources) = (grant.scopes, grant.resources)
        (nonce, prompt, maxAge, keyThumbprint, loginHint, language) = (nil, [], nil, nil, nil, nil)
        subject = nil
    }

    /// Whom an ID token names that the project has issued to the client, expired or not.
    package struct Hint: Sendable {
        package let subject: String
        package let email: String?

        package init(subject: String, email: String?) { (self.subject, self.email) = (subject, email) }
    }

    package enum Prompt: String, Sendable, Hashable, Codable, CaseIterable {
        case none
        case login
        case consent
        case selectAccount = "select_account"
    }

    /// A refusal for the user to see: there is no trustworthy address to redirect to (OAuth 2.1 §4.1.2.1).
    package struct Unredirectable: Error, Sendable, Hashable {
        /// English, for the client's developer.
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// A refusal for the client.
    package struct Refused: Error, Sendable, Hashable {
        package let error: OAuthError
        package let answer: Answer

        package init(error: OAuthError, answer: Answer) { (self.error, self.answer) = (error, answer) }
    }

    /// Where an answer goes.
    package struct Answer: Sendable, Hashable {
        package let redirectURI: String
        package let state: String?
    }

    package var answer: Answer { Answer(redirectURI: redirectURI, state: state) }

    package var grant: ApplicationGrant {
        ApplicationGrant(
            scopes: scopes,
            resources: resources,
            redirectURI: redirectURI,
            nonce: nonce,
            keyThumbprint: keyThumbprint
        )
    }

    /// - Parameters:
    ///   - parameters: of the query or of the form.
    ///   - client: the one that `client_id` names.
    ///   - hint: reads `id_token_hint`; nil for what is no ID token of this client.
    /// - Throws: ``Unredirectable``, ``Refused``.
    package init(
        _ parameters: FormFields,
        of client: OAuthClient,
        _ settings: OAuthSettings,
        readingHint hint: (_ idToken: String) -> Hint?
    ) throws {
        let values = OAuthParameters(parameters)
        let redirectURI = try Self.redirectURI(values, of: client)
        let state = values["state"]
        let answer = Answer(redirectURI: redirectURI, state: values.repeated == "state" ? nil : state)
        do throws(OAuthError) {
            let fields = try Fields(values, of: client, settings, readingHint: hint)
            self.client = client.id
            self.redirectURI = redirectURI
            self.state = state
            codeChallenge = fields.codeChallenge
            scopes = fields.scopes
            resources = fields.resources
            nonce = fields.nonce
            prompt = fields.prompt
            maxAge = fields.maxAge
            keyThumbprint = fields.keyThumbprint
            loginHint = fields.loginHint
            subject = fields.subject
            language = values["ui_locales"]?.split(separator: " ").first.map { String($0.prefix(35)) }
        } catch {
            throw Refused(error: error, answer: answer)
        }
    }

    /// The request, whose code is bound to a key that the client has proved to have (RFC 9449 §10.1).
    package func bound(to thumbprint: String) throws(OAuthError) -> AuthorizationRequest {
        guard keyThumbprint ?? thumbprint == thumbprint else {
            throw OAuthError(.invalidDPoPProof, "dpop_jkt is the thumbprint of another key")
        }
        var bound = self
        bound.keyThumbprint = thumbprint
        return bound
    }

    /// The request as the client and the project allow it now: either may have lost something since it began.
    ///
    /// - Throws: ``Unredirectable``, ``Refused``; ``OAuthError`` for a device's.
    package func current(of client: OAuthClient, _ settings: OAuthSettings) throws -> AuthorizationRequest {
        let isDevice = redirectURI.isEmpty
        guard isDevice || client.allows(redirectURI: redirectURI) else {
            throw Unredirectable(description: "redirect_uri is not registered any more")
        }
        var current = self
        current.scopes = client.scopes(of: scopes.joined(separator: " "), settings)
        do throws(OAuthError) { current.resources = try settings.resources(resources) } catch {
            guard !isDevice else { throw error }
            throw Refused(error: error, answer: answer)
        }
        return current
    }

    private static func redirectURI(_ values: OAuthParameters, of client: OAuthClient) throws(Unredirectable) -> String
    {
        guard values.repeated != "redirect_uri" else { throw Unredirectable(description: "redirect_uri is repeated") }
        guard let asked = values["redirect_uri"] else {
            let registered = client.metadata.redirectURIs
            guard registered.count == 1, let only = registered.first else {
                throw Unredirectable(description: "redirect_uri is missing")
            }
            return only.text
        }
        guard client.allows(redirectURI: asked) else {
            throw Unredirectable(description: "redirect_uri is not registered")
        }
        return asked
    }
}

/// What may be refused with a redirect.
private struct Fields {
    let codeChallenge: String
    let scopes: [String]
    let resources: [String]
    let nonce: String?
    let prompt: Set<AuthorizationRequest.Prompt>
    let maxAge: Int64?
    let keyThumbprint: String?
    let loginHint: String?
    let subject: String?

    init(
        _ values: OAuthParameters,
        of client: OAuthClient,
        _ settings: OAuthSettings,
        readingHint hint: (String) -> AuthorizationRequest.Hint?
    ) throws(OAuthError) {
        guard values.repeated == nil else { throw OAuthError(.invalidRequest, "A parameter is repeated") }
        if values["request"] != nil { throw OAuthError(.requestNotSupported, "request is not supported") }
        if values["request_uri"] != nil {
            throw OAuthError(.requestURINotSupported, "request_uri must be one that the project has issued")
        }
        if values["registration"] != nil {
            throw OAuthError(.registrationNotSupported, "registration is not supported")
        }
        guard let type = values["response_type"] else { throw OAuthError(.invalidRequest, "response_type is missing") }
        guard type == "code" else { throw OAuthError(.unsupportedResponseType, "response_type must be code") }
        guard values["response_mode"] ?? "query" == "query" else {
            throw OAuthError(.invalidRequest, "response_mode must be query")
        }
        guard let challenge = values["code_challenge"], CodeChallenge.isValid(challenge),
            values["code_challenge_method"] == "S256"
        else {
            throw OAuthError(.invalidRequest, "code_challenge is required, with code_challenge_method S256 (RFC 7636)")
        }
        codeChallenge = challenge
        scopes = client.scopes(of: values["scope"], settings)
        resources = try settings.resources(values.all("resource"))
        nonce = values["nonce"]
        guard (nonce ?? "").utf8.count <= 512, (values["state"] ?? "").utf8.count <= 4_096 else {
            throw OAuthError(.invalidRequest, "nonce is limited to 512 bytes and state to 4096")
        }
        let hinted = values["id_token_hint"].flatMap(hint)
        guard hinted != nil || values["id_token_hint"] == nil else {
            throw OAuthError(.invalidRequest, "id_token_hint must be an ID token that the project issued to the client")
        }
        subject = hinted?.subject
        loginHint = values["login_hint"] ?? hinted?.email
        guard (loginHint ?? "").utf8.count <= 320 else {
            throw OAuthError(.invalidRequest, "login_hint is limited to 320 bytes")
        }
        keyThumbprint = values["dpop_jkt"]
        guard keyThumbprint.map(CodeChallenge.isValid) ?? true else {
            throw OAuthError(.invalidRequest, "dpop_jkt must be the SHA-256 thumbprint of a key")
        }
        prompt = try Self.prompt(values["prompt"])
        maxAge = try values["max_age"].map { text throws(OAuthError) in
            guard let seconds = Int64(text), seconds >= 0 else {
                throw OAuthError(.invalidRequest, "max_age must be a number of seconds")
            }
            return seconds
        }
    }

    private static func prompt(_ text: String?) throws(OAuthError) -> Set<AuthorizationRequest.Prompt> {
        let names = (text ?? "").split(separator: " ")
        let values = names.compactMap { AuthorizationRequest.Prompt(rawValue: String($0)) }
        guard values.count == names.count, !values.contains(.none) || values.count == 1 else {
            throw OAuthError(.invalidRequest, "prompt must be none, or some of login, consent and select_account")
        }
        return Set(values)
    }
}
