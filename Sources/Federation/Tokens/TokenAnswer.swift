import HTTPTypes
import Outbound
import StrictJSON
import Text

/// A successful response of the token endpoint (RFC 6749 §5.1), read according to the definition.
struct TokenAnswer: Sendable {
    let accessToken: String
    let idToken: String?
    let refreshToken: String?
    /// Seconds.
    let expiresIn: Int?
    /// Nil if the provider does not state them, which means: as requested.
    let scopes: [String]?

    /// - Throws: ``FederationError/codeRejected(error:)``, ``FederationError/clientRejected(error:)``,
    ///   ``FederationError/scopeRefused(error:description:)``, ``FederationError/unavailable(_:)``,
    ///   ``FederationError/invalidAnswer(_:)``.
    init(_ response: OutboundResponse, definition: ProviderDefinition) throws(FederationError) {
        if let unavailable = FederationError.Unavailable(status: response.status) { throw .unavailable(unavailable) }
        let answer = Self.object(response, definition.token)
        if let error = Self.fault(answer, definition) { throw error }
        guard response.isSuccess else {
            throw response.status == 401 ? .clientRejected(error: "http_401") : .invalidAnswer(.refused)
        }
        guard let answer else { throw .invalidAnswer(.notUnderstood) }
        guard let accessToken = Self.token(answer["access_token"]) else { throw .invalidAnswer(.missingAccessToken) }
        let types = Set(["bearer"] + definition.profile.map { $0.scheme.lowercased() })
        switch answer["token_type"] {
        case nil: break
        case .string(let type): guard types.contains(type.lowercased()) else { throw .invalidAnswer(.tokenType) }
        default: throw .invalidAnswer(.tokenType)
        }
        self.accessToken = accessToken
        self.idToken = answer["id_token"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        self.refreshToken = Self.token(answer["refresh_token"])
        let seconds = answer["expires_in"].flatMap { $0.wholeNumber ?? $0.string.flatMap { Int64($0) } }
        self.expiresIn = seconds.flatMap { (0...315_360_000).contains($0) ? Int($0) : nil }
        self.scopes = Self.scopes(answer["scope"], separator: definition.scopes.answerSeparator)
    }

    /// The error in a response; nil if it states none.
    static func fault(of response: OutboundResponse, definition: ProviderDefinition) -> FederationError? {
        fault(object(response, definition.token), definition)
    }

    private static func fault(_ answer: JSONObject?, _ definition: ProviderDefinition) -> FederationError? {
        ProviderFault(answer, rules: definition.token)?.federationError
    }

    private static func token(_ value: JSONValue?) -> String? {
        guard let text = value?.string, isToken(text) else { return nil }
        return text
    }

    /// Whether a token can be sent in a header: visible ASCII, at most 16 KiB.
    static func isToken(_ text: String) -> Bool {
        (1...16_384).contains(text.utf8.count) && text.consists(of: .visible)
    }

    private static func scopes(_ value: JSONValue?, separator: String) -> [String]? {
        let parts: [String]
        switch value {
        case .string(let text):
            parts = text.replacing(separator, with: " ").split(whereSeparator: \.isWhitespace).map { String($0) }
        case .array(let values): parts = values.compactMap(\.string)
        default: return nil
        }
        return Array(parts.filter(Scope.isAcceptable).prefix(256))
    }

    private static func object(_ response: OutboundResponse, _ rules: ProviderDefinition.TokenEndpoint) -> JSONObject? {
        let first = response.body.first { ![9, 10, 13, 32].contains($0) }
        let isJSON = first == UInt8(ascii: "{")
        switch rules.body {
        case .json: return isJSON && response.mayBeJSON ? (try? JSONValue(sent: response.body))?.object : nil
        case .form: return form(response.body)
        case .auto:
            guard isJSON else { return form(response.body) }
            return response.mayBeJSON ? (try? JSONValue(sent: response.body))?.object : nil
        }
    }

    /// A form as an object of strings; nil if it is not a form, or repeats a name.
    static func form(_ body: [UInt8]) -> JSONObject? {
        guard body.allSatisfy({ ASCIISet.visible.contains($0) && $0 != UInt8(ascii: "<") }) else { return nil }
        var object = JSONObject()
        for (name, value) in FormFields(String(decoding: body, as: UTF8.self)).pairs {
            guard object[name] == nil, !name.isEmpty, name == SafeText.code(name) else { return nil }
            object[name] = .string(value)
        }
        return object.members.isEmpty ? nil : object
    }
}

extension OutboundResponse {
    /// Whether it is declared as JSON (RFC 6749 §5.1, RFC 6839 §3.1), or not declared: content of another type was made
    /// for another purpose, perhaps by another user.
    var mayBeJSON: Bool {
        guard let type = headers[.contentType] else { return true }
        let media = type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        return media == "application/json" || media.hasSuffix("+json") || media == "text/javascript"
    }
}

extension FederationError.Unavailable {
    /// Responses that say nothing about the request: redirects, 429 and 5xx.
    init?(status: Int) {
        switch status {
        case 300..<400: self = .redirect
        case 429: self = .throttled
        case 500...: self = .serverError
        default: return nil
        }
    }

    init(_ error: OutboundError) {
        switch error {
        case .unreachable: self = .unreachable
        case .timedOut: self = .timedOut
        case .tooLarge: self = .tooLarge
        case .refusedAddress, .invalidURL: self = .refusedAddress
        case .busy: self = .busy
        case .malformedResponse: self = .malformed
        case .cancelled: self = .cancelled
        }
    }
}
