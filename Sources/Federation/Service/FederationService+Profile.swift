import StrictJSON
import HTTPTypes
import Outbound
import Projects

/// What the profile calls brought.
struct ProviderProfile: Sendable {
    /// The first call's answer without a name.
    var document = JSONObject()
    /// The answers of named calls.
    var named = JSONObject()
}

extension FederationService {
    /// Makes the definition's profile calls with an access token; without an ID token there is one at least.
    ///
    /// - Parameter subject: the ID token's; a user info answer about anybody else ends the sign-in (T-C12).
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
                if call.optional { continue }
                throw error
            }
            if let name = call.name {
                profile.named[name] = answer
                continue
            }
            guard let document = answer.object else {
                if call.optional { continue }
                throw .invalidAnswer(.notUnderstood)
            }
            if let subject, call.url == nil || document["sub"] != nil {
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
        // What sign-in can do without must not use up the patience of the person who waits.
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
    /// Adds the members of another object whose names are not here yet.
    mutating func add(_ other: JSONObject) {
        var names = Set(members.map { Array($0.name.utf8) })
        self = JSONObject(members + other.members.filter { names.insert(Array($0.name.utf8)).inserted })
    }
}
