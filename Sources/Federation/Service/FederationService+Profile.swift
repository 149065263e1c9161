import StrictJSON
import HTTPTypes
import Outbound
import Projects

/// The results of the profile calls.
struct ProviderProfile: Sendable {
    /// The response of the first call without a name.
    var document = JSONObject()
    /// The responses of named calls.
    var named = JSONObject()
    /// Why an optional call brought no answer about the user; nil if each answered, or refused.
    var failure: FederationError.Unavailable?
    /// The same, of the calls that can return the email.
    var emailFailure: FederationError.Unavailable?

    /// Notes an optional call that failed.
    mutating func note(
        _ error: FederationError,
        of call: ProviderDefinition.ProfileCall,
        _ definition: ProviderDefinition
    ) {
        guard let reason = error.withoutAnswer else { return }
        failure = failure ?? reason
        if definition.readsEmail(from: call) { emailFailure = emailFailure ?? reason }
    }
}

extension FederationError {
    /// Why the provider did not answer a request; nil if it did, by refusing.
    fileprivate var withoutAnswer: Unavailable? {
        switch self {
        case .unavailable(let reason): reason
        case .invalidAnswer: .malformed
        default: nil
        }
    }
}

extension ProviderDefinition {
    /// Whether the email may be in a profile call's response.
    fileprivate func readsEmail(from call: ProfileCall) -> Bool {
        if quirks.contains(.githubEmails) { return call.name == GitHubEmails.call }
        let names = Set(profile.compactMap(\.name))
        return claims.email.contains { path in
            let first = path.prefix { $0 != "." }
            return call.name.map { first == $0 } ?? !names.contains(String(first))
        }
    }
}

extension FederationService {
    /// Makes the definition's profile calls with an access token; without an ID token there is at least one.
    ///
    /// - Parameter subject: the ID token's; a user info response about another user fails the sign-in (T-C12).
    func profile(
        of provider: ResolvedProvider,
        accessToken: String,
        tokenSecret: String? = nil,
        subject: String?
    ) async throws(FederationError) -> ProviderProfile {
        var profile = ProviderProfile()
        var calls = provider.definition.profile
        if calls.isEmpty, subject == nil { calls = [ProviderDefinition.ProfileCall()] }
        for call in calls {
            guard let url = call.url ?? provider.endpoint(\.userInfo) else { continue }
            let answer: JSONValue
            do throws(FederationError) {
                answer = try await fetch(call, url: url, of: provider, accessToken, tokenSecret)
            } catch {
                guard call.optional else { throw error }
                profile.note(error, of: call, provider.definition)
                continue
            }
            if let name = call.name {
                profile.named[name] = answer
                continue
            }
            guard let document = answer.object else {
                let error = FederationError.invalidAnswer(.notUnderstood)
                guard call.optional else { throw error }
                profile.note(error, of: call, provider.definition)
                continue
            }
            if let subject, call.url == nil || document[stated: "sub"] != nil {
                guard let other = document["sub"]?.string, other.utf8.elementsEqual(subject.utf8) else {
                    throw .subjectMismatch
                }
            }
            profile.document.add(document)
        }
        return profile
    }

    private func fetch(
        _ call: ProviderDefinition.ProfileCall,
        url: String,
        of provider: ResolvedProvider,
        _ accessToken: String,
        _ tokenSecret: String?
    ) async throws(FederationError) -> JSONValue {
        var headers: HTTPFields = [.accept: "application/json"]
        for (name, value) in call.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        headers[.authorization] = call.scheme + " " + accessToken
        // An optional call must not delay the waiting user for long.
        var request = OutboundRequest(url: url, headers: headers, timeLimit: call.optional ? .seconds(5) : nil)
        switch call.proof {
        case nil: break
        case .oauth1:
            let token = OAuth1Token(token: accessToken, secret: tokenSecret ?? "")
            signer(provider.client, token).sign(&request)
        case .appSecret: FacebookProof.add(to: &request, token: accessToken, secret: provider.client.clientSecret)
        }
        return try await callAPI(request, of: provider.definition)
    }
}

extension JSONObject {
    /// Adds the members of another object, except those that exist here; null gives way to what the other says.
    mutating func add(_ other: JSONObject) {
        let stated = Set(members.filter { !$0.value.isNull }.map { Array($0.name.utf8) })
        let added = other.members.filter { !stated.contains(Array($0.name.utf8)) }
        let names = Set(added.map { Array($0.name.utf8) })
        self = JSONObject(members.filter { !names.contains(Array($0.name.utf8)) } + added)
    }
}
