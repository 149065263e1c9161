import Federation
import Projects
import Text

/// The result of a provider sign-in in the format that SDKs read.
struct AuthEvent: Sendable {
    var visit: HandlerVisit
    /// The tenant; nil in the project itself.
    var tenant: String?
    /// The URL that the provider redirected to; nil with a fault.
    var urlResponse: String?
    var postBody: String?
    var sessionID: String?
    /// For an app that asks for an SMS (``HandlerVisit/appCheck``).
    var recaptchaToken: String?
    var fault: HandlerFault?

    /// Writes the data with which `handler.js` delivers the result, into an open object.
    ///
    /// - Parameter own: where the browser reaches this service.
    func writeDelivery(to json: inout JSONWriter, at own: PublicURL) {
        switch visit.destination {
        case .popup(let apiKey, let appName):
            json.member("apiKey", apiKey)
            json.member("appName", appName)
            json.object("event", write)
        case .redirect(let apiKey, let appName, let url):
            json.member("apiKey", apiKey)
            json.member("appName", appName)
            json.member("url", url)
            json.object("event", write)
        case .ios, .android: json.member("link", link(at: own))
        // These have no SDK to tell.
        case .signInPage, .console: break
        }
    }

    /// As the SDK's frame passes it on.
    var json: [UInt8] {
        var json = JSONWriter()
        json.object(write)
        return Array(json.text.utf8)
    }

    /// SDKs test for values and read all members, so absent ones are null here.
    private func write(to json: inout JSONWriter) {
        func member(_ name: String, _ value: String?) {
            if let value { json.member(name, value) } else { json.member(name, json: "null") }
        }
        member("type", visit.authType)
        member("eventId", visit.eventID)
        member("urlResponse", urlResponse)
        member("sessionId", sessionID)
        member("postBody", postBody)
        member("tenantId", tenant)
        guard let fault else { return member("error", nil) }
        json.object("error") { fault.write(to: &$0) }
    }

    /// The link that opens an app; nil for the web.
    func link(at own: PublicURL) -> String? {
        // Only a link can be passed, so posted parameters are added to it.
        let response = urlResponse.map { url in postBody.map { "\(url)?\($0)" } ?? url }
        var result = response.map { [("link", $0)] } ?? []
        if let recaptchaToken { result.append(("recaptchaToken", recaptchaToken)) }
        if let fault {
            var json = JSONWriter()
            json.object { fault.write(to: &$0) }
            result.append(("firebaseError", json.text))
        }
        let facts = [("authType", visit.authType)] + (visit.eventID.map { [("eventId", $0)] } ?? [])
        switch visit.destination {
        case .popup, .redirect, .signInPage, .console: return nil
        case .ios(let bundleID, let scheme):
            let query = FormFields(pairs: facts + result).text
            let host = scheme == bundleID ? "google" : "firebaseauth"
            return "\(scheme)://\(host)/link?deep_link_id=\(PercentEncoding.encode("\(own)/__/auth/callback?\(query)"))"
        case .android(let package):
            let extras = (facts + result).map { "S.\($0)=\(PercentEncoding.encode($1));" }.joined()
            let fallback = PercentEncoding.encode(own.callback)
            let scheme = visit.authType == HandlerVisit.appCheck ? "recaptcha" : "genericidp"
            return "intent://firebase.auth/#Intent;scheme=\(scheme);package=\(package);\(extras)"
                + "B.encryptionEnabled=false;S.browser_fallback_url=\(fallback);end;"
        }
    }
}

extension HandlerFault {
    /// In the error format of SDKs.
    func write(to json: inout JSONWriter) {
        json.member("code", "auth/\(code)")
        json.member("message", text)
    }
}
