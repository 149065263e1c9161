import Administration
import Domain
import Federation
import Projects
import Secrets
import Storage
import StrictJSON

/// The content of an identity provider's page, and the meaning of its form.
struct ConsoleProvider {
    let provider: ProviderConfiguration
    /// The version of the displayed configuration.
    let version: String
    let path: String
    /// The session's form token, as a field.
    let token: HTML

    func html(callback: HTML?) -> HTML {
        let checked: HTML? = provider.enabled ? " checked" : nil
        let issuer: HTML? =
            ProviderDefinition.needsIssuer(provider.provider) ? Self.issuerField(provider.issuer ?? "") : nil
        let isNamed = provider.provider.isCustom
        let name: HTML = """
            <label for="name">Name on the sign-in page</label>
            <input id="name" name="displayName" value="\(provider.displayName ?? "")" maxlength="256" autocomplete="off">

            """
        let facts: [(name: String, value: HTML?)] = [
            ("ID", "<code>\(provider.provider.rawValue)</code>"), ("Redirect URI to register there", callback),
        ]
        let isApple = provider.provider == .apple
        let client = Self.clientFields(
            clientID: provider.clientID,
            hasSecret: isApple ? nil : provider.clientSecret != nil
        )
        return """
            \(html: ConsoleText.facts(facts))
            <form class="narrow" method="post" action="\(path)">
            \(html: hidden("save"))
            <label class="check"><input name="enabled" type="checkbox" value="true"\(html: checked)> Users can sign in with it</label>
            \(html: isNamed ? name : nil)
            \(html: client)
            \(html: issuer)
            \(html: isApple ? appleFields : definitionField)
            \(html: Self.reasonField)
            <button>Save</button>
            </form>
            <h2>Test</h2>
            <p>Runs a real sign-in with your own account at the provider, step by step. The test also works while the provider
            is disabled. It does not sign you in to the app.</p>
            <form method="post" action="\(path)/test">
            \(html: token)<button>Test provider</button>
            </form>
            <h2>Delete</h2>
            <details><summary>Delete</summary>
            <form method="post" action="\(path)">
            <p>Users can no longer sign in with this provider. Accounts stay linked, in case you add it again.</p>
            \(html: hidden("delete"))
            <label for="confirm">Type the provider ID to confirm: <code>\(provider.provider.rawValue)</code></label>
            <input id="confirm" name="confirm" maxlength="64" autocomplete="off" autocapitalize="off" spellcheck="false" required>
            \(html: Self.reasonField)
            <button class="danger">Delete provider</button>
            </form>
            </details>
            """
    }

    private func hidden(_ action: String) -> HTML {
        """
        \(html: token)<input type="hidden" name="do" value="\(action)">\
        <input type="hidden" name="version" value="\(version)">
        """
    }

    // MARK: Fields

    static let reasonField: HTML = """
        <label>Reason, for the audit log (optional)
        <input name="reason" maxlength="256" autocomplete="off"></label>
        """

    /// - Parameter hasSecret: whether one is stored, which is never shown; nil for a provider without one.
    static func clientFields(clientID: String, hasSecret: Bool?) -> HTML {
        let secret = hasSecret.map { isKept -> HTML in
            """

            <label for="secret">Client secret</label>
            <input id="secret" name="clientSecret" type="password" autocomplete="off" aria-describedby="secret-hint">
            <p id="secret-hint" class="hint">\(html: hint(ofKept: isKept))</p>
            """
        }
        return """
            <label for="client">Client ID</label>
            <input id="client" name="clientId" value="\(clientID)" maxlength="512" autocomplete="off" spellcheck="false" required>\(html: secret)
            """
    }

    private static func hint(ofKept isKept: Bool) -> HTML {
        isKept ? "Leave empty to keep the stored one." : "None is stored."
    }

    /// Apple's client secret is a token signed with a key of the team
    /// (developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret).
    private var appleFields: HTML {
        let variables = provider.variables
        return """
            <label for="bundles">Bundle IDs of apps that send Apple's ID tokens, one per line</label>
            <textarea id="bundles" name="bundleIds" rows="2" spellcheck="false">\(provider.audiences.joined(separator: "\n"))</textarea>
            <label for="team">Team ID</label>
            <input id="team" name="teamId" value="\(variables["teamId"]?.string ?? "")" maxlength="64" autocomplete="off" spellcheck="false">
            <label for="key">Key ID</label>
            <input id="key" name="keyId" value="\(variables["keyId"]?.string ?? "")" maxlength="64" autocomplete="off" spellcheck="false">
            <label for="private">Private key (contents of the .p8 file), or a JWT signed with it</label>
            <textarea id="private" name="privateKey" rows="4" autocomplete="off" spellcheck="false" aria-describedby="private-hint"></textarea>
            <p id="private-hint" class="hint">\(html: Self.hint(ofKept: provider.clientSecret != nil))</p>
            """
    }

    private var definitionField: HTML {
        let text = provider.definition.map { JSONValue.object($0).jsonText } ?? ""
        let open: HTML? = text.isEmpty ? nil : " open"
        return """
            <details\(html: open)><summary>Definition</summary>
            <label for="definition">Overrides of the provider's built-in definition, as JSON</label>
            <textarea id="definition" name="definition" rows="6" spellcheck="false">\(text)</textarea>
            </details>
            """
    }

    static func issuerField(_ issuer: String) -> HTML {
        """
        <label for="issuer">Issuer (<code>oidc.</code> providers only), an https URL</label>
        <input id="issuer" name="issuer" value="\(issuer)" maxlength="1024" autocomplete="off" spellcheck="false">
        """
    }

    // MARK: What a form means

    /// The form's change; a field that it lacks stays, as does a secret that is not entered.
    static func patch(_ form: ConsoleForm, of id: ProviderID) throws -> Patch<ProviderConfiguration> {
        var patch = Patch<ProviderConfiguration>()
        patch.set(\.enabled, to: try form.value("enabled") == "true")
        if let text = try form.items.value("clientId") { patch.set(\.clientID, to: text) }
        for name in id == .apple ? ["clientSecret", "privateKey"] : ["clientSecret"] {
            if let secret = try entered(name, form) { patch.set(\.clientSecret, to: Secret(secret)) }
        }
        if let text = try form.items.value("definition") { try patch.setDefinition(try definition(text), of: id) }
        if id.isCustom {
            if try form.items.value("displayName") != nil {
                patch.set(\.displayName, to: try entered("displayName", form))
            }
            if try form.items.value("issuer") != nil { patch.set(\.issuer, to: try entered("issuer", form)) }
        }
        if id == .apple {
            if let text = try form.items.value("bundleIds") {
                patch.set(\.audiences, to: text.split(whereSeparator: \.isWhitespace).map { String($0) })
            }
            for name in ["teamId", "keyId"] where try form.items.value(name) != nil {
                let value = try entered(name, form)
                patch.change { $0.setDefinition(["variables", name], to: value.map { .string($0) }) }
            }
        }
        return patch
    }

    /// Nil for an empty field.
    private static func entered(_ name: String, _ form: ConsoleForm) throws -> String? {
        let text = try form.value(name)
        return text.isEmpty ? nil : text
    }

    private static func definition(_ text: String) throws -> WireObject? {
        guard !text.allSatisfy(\.isWhitespace) else { return nil }
        guard let definition = (try? JSONValue(parsing: text))?.object else {
            throw WireError.invalidRequest("The definition must be a JSON object.", field: "definition")
        }
        return WireObject(definition.members, path: "definition")
    }

    // MARK: What is wrong

    static func words(for error: any Error) -> HTML {
        switch error {
        case AdministrationError.changedMeanwhile:
            """
            <p>Nothing was changed: the provider changed after you opened the page. The page now shows the current configuration;
            the audit log shows who changed it. Review it, then try again if needed.</p>
            """
        case ConfigurationError.alreadyExists: "<p>Nothing was changed: this provider already exists.</p>"
        case AdministrationError.invalidProviderID: "<p>Nothing was changed: this is not a valid provider ID.</p>"
        case AdministrationError.missingClientID: "<p>Nothing was changed: enter the client ID.</p>"
        case AdministrationError.missingIssuer: "<p>Nothing was changed: enter the issuer.</p>"
        // Our own message about the entered values.
        default: "<p>Nothing was changed: \(WireError(mapping: error).message)</p>"
        }
    }
}
