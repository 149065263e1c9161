import Domain
import StrictJSON

extension AuthorizationFlow {
    /// The flow as it is stored, encrypted: everything except ``stateHash``, its key.
    package var json: [UInt8] {
        var json = JSONText(capacity: 1_024)
        json.openObject()
        json.member("provider", provider.rawValue)
        json.member("clientID", clientID)
        json.member("issuer", issuer)
        json.member("tokenEndpoint", tokenEndpoint)
        json.member("clientAuthentication", clientAuthentication.rawValue)
        json.member("callbackURI", callbackURI)
        if let redirectURI { json.member("redirectURI", redirectURI) }
        if let nonce { json.member("nonce", nonce) }
        if let pkceVerifier { json.member("pkceVerifier", pkceVerifier) }
        json.member("scopes", scopes)
        json.member("responseType", responseType.text)
        json.openObject("variables")
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) { json.member(name, value) }
        json.closeObject()
        if let maxAge { json.member("maxAge", Int64(maxAge)) }
        if let loginAskedAt { json.member("loginAskedAt", loginAskedAt) }
        if let requestToken {
            json.member("requestToken", requestToken.token)
            json.member("requestTokenSecret", requestToken.secret)
        }
        if isPosted { json.member("isPosted", true) }
        json.member("requiresIssuerParameter", requiresIssuerParameter)
        if let visit {
            json.openObject("visit")
            visit.write(to: &json)
            json.closeObject()
        }
        json.closeObject()
        return json.bytes
    }

    /// Reads a value of ``json``; nil for anything else.
    package init?(json: [UInt8], stateHash: [UInt8]) {
        guard let object = (try? JSONValue(parsing: json))?.object,
            let provider = object["provider"]?.string,
            let clientID = object["clientID"]?.string,
            let issuer = object["issuer"]?.string,
            let tokenEndpoint = object["tokenEndpoint"]?.string,
            let authentication = object["clientAuthentication"]?.string
                .flatMap(ProviderDefinition.ClientAuthentication.init),
            let callbackURI = object["callbackURI"]?.string,
            let scopes = object["scopes"]?.array,
            let responseType = object["responseType"]?.string.flatMap({ ResponseType($0) }),
            let variables = object["variables"]?.object,
            case .bool(let requiresIssuerParameter) = object["requiresIssuerParameter"]
        else { return nil }
        self.provider = ProviderID(provider)
        self.stateHash = stateHash
        self.clientID = clientID
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        self.clientAuthentication = authentication
        self.callbackURI = callbackURI
        self.redirectURI = object["redirectURI"]?.string
        self.nonce = object["nonce"]?.string
        self.pkceVerifier = object["pkceVerifier"]?.string
        self.scopes = scopes.compactMap(\.string)
        self.responseType = responseType
        self.variables = Dictionary(
            variables.members.compactMap { member in member.value.string.map { (member.name, $0) } }
        ) { $1 }
        self.maxAge = object["maxAge"]?.integer.map { Int($0) }
        self.loginAskedAt = object["loginAskedAt"]?.integer
        self.requestToken = object["requestToken"]?.string.flatMap { token in
            object["requestTokenSecret"]?.string.map { OAuth1Token(token: token, secret: $0) }
        }
        self.isPosted = object["isPosted"] == .bool(true)
        self.requiresIssuerParameter = requiresIssuerParameter
        self.visit = object["visit"]?.object.flatMap { HandlerVisit($0) }
    }
}
