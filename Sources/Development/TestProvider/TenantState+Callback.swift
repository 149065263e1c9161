import IdentityService
import Text

extension TenantState {
    /// The target of the browser's return.
    struct Callback {
        var uri: String
        var state: String?
        /// `response_mode`; nil for the query, or for the fragment when tokens are returned.
        var mode: String?
    }

    /// The response that sends the browser back with these parameters and the state.
    func callback(
        _ back: Callback,
        _ parameters: [(String, String)],
        _ changes: ScriptedLogin.CallbackChanges = .none
    ) -> ProviderAnswer {
        var pairs = parameters.filter { !$0.1.isEmpty }
        if let number = personality.errorCode, pairs.contains(where: { $0.0 == "error" }) {
            pairs.append(("error_code", String(number)))
        }
        if let state = back.state { pairs.append(("state", state)) }
        if personality.sendsIssuerInCallback { pairs.append(("iss", issuer)) }
        pairs.removeAll { changes.remove.contains($0.0) }
        for (name, value) in changes.set.sorted(by: { $0.key < $1.key }) {
            pairs.removeAll { $0.0 == name }
            pairs.append((name, value))
        }
        pairs += changes.append
        guard back.mode != "form_post" else { return formPost(to: back.uri, pairs) }
        let text = FormFields(pairs: pairs).text
        let uri = personality.addsRootSlash && URLParts(back.uri)?.path == "" ? back.uri + "/" : back.uri
        let mark = text.isEmpty ? "" : back.mode == "fragment" ? "#" : uri.contains("?") ? "&" : "?"
        return ProviderAnswer(
            303,
            headers: [
                ("Location", uri + mark + text + personality.callbackFragment), ("Cache-Control", "no-store"),
            ],
            .empty
        )
    }

    /// OAuth 2.0 Form Post Response Mode §2: a page that submits itself.
    private func formPost(to uri: String, _ pairs: [(String, String)]) -> ProviderAnswer {
        let inputs = pairs.map { name, value in
            #"<input type="hidden" name="\#(Markup.escape(name))" value="\#(Markup.escape(value))">"#
        }
        let page = """
            <!doctype html><html><head><title>Back to the app</title></head>
            <body onload="document.forms[0].submit()">
            <form method="post" action="\(Markup.escape(uri))">\(inputs.joined())<noscript><button>Continue</button></noscript>
            </form></body></html>
            """
        return ProviderAnswer(headers: [("Cache-Control", "no-store")], .html(page))
    }

    /// An error shown at the provider, because the app can't be trusted with it.
    func refusal(_ status: Int, _ message: String) -> ProviderAnswer {
        let text = Markup.escape(message)
        return ProviderAnswer(status, .html("<!doctype html><title>Error</title><h1>Error</h1><p>\(text)</p>"))
    }
}

enum Markup {
    /// For text and for attribute values in double quotes.
    static func escape(_ text: String) -> String { ("\(text)" as HTML).text }
}
