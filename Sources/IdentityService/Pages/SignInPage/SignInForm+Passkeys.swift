import Accounts
import Domain
import HTTPTypes
import Projects
import Secrets
import Text

import struct Foundation.Date

/// Passkeys on the sign-in page. Everything that needs the page's script is hidden until it runs.
extension SignInForm {
    /// The button for browsers without autofill of passkeys, and for users who do not look there.
    var passkeyEntrance: HTML? {
        guard offersPasskeys else { return nil }
        return """
            \(html: hidden("usePasskey"))
            <div class="ways" id="passkey-entrance" hidden>
            <div id="passkey-problem" role="alert" hidden><p>\(html: context.html(.passkeyProblem))</p></div>
            <button type="button" class="way" id="use-passkey">\(html: context.html(.passkeyButton))</button>
            </div>

            """
    }

    /// By the script, says that the browser can create passkeys.
    var passkeySupport: HTML? {
        offersPasskeys ? "<input type=\"hidden\" name=\"hasPasskeys\" value=\"\">" : nil
    }

    /// The form in which the script sends what the authenticator said.
    private func hidden(_ action: String) -> HTML {
        form(
            """
            <input type="hidden" name="do" value="\(action)"><input type="hidden" name="passkey" value="">
            """,
            class: action
        )
    }

    // MARK: The user's own

    var passkeyOffer: Page {
        context.page(
            .offerTitle,
            """
            <p>\(html: context.html(.offerLead))</p>
            <p class="hint">\(html: context.html(.offerNote))</p>
            \(html: alert)\(html: creation(.offerButton))
            \(html: form(link(.notNow, "leave"), class: "links later"))
            """
        )
    }

    var ownPasskeys: Page {
        let passkeys = passkeys?.passkeys ?? []
        let list = passkeys.map { passkey -> HTML in
            """
            <div><dt>\(passkey.name ?? context.text(.passkeyUnnamed))</dt><dd>\(html: Self.dates(of: passkey, context))</dd>
            \(html: form("<button class=\"link\" name=\"remove\" value=\"\(passkey.id)\">\(html: context.html(.passkeyRemove))</button>"))
            </div>

            """
        }
        return context.page(
            .passkeysTitle,
            """
            <p>\(html: context.html(passkeys.isEmpty ? .passkeysNone : .passkeysLead))</p>
            \(html: alert)\(html: list.isEmpty ? nil : "<dl class=\"items\">\(html: list)</dl>")
            \(html: self.passkeys?.options == nil ? nil : creation(.passkeyAdd))
            \(html: form(link(.passkeysDone, "leave"), class: "links"))
            """
        )
    }

    private func creation(_ button: PageText) -> HTML {
        """
        \(html: hidden("addPasskey"))
        <div id="passkey-entrance" hidden>
        <div id="passkey-problem" role="alert" hidden><p>\(html: context.html(.passkeyProblem))</p></div>
        <button type="button" id="create-passkey">\(html: context.html(button))</button>
        </div>

        """
    }

    private static func dates(of passkey: Passkey, _ context: PageContext) -> HTML {
        let created = day(passkey.enrolledAt)
        guard let used = passkey.lastUsedAt else { return context.html(.passkeyUnused, ["DATE": created]) }
        return context.html(.passkeyDates, ["DATE": created, "USED": day(used)])
    }

    /// In UTC, `2026-01-31`, which every language reads.
    private static func day(_ date: Date) -> String { String(date.ISO8601Format().prefix(10)) }

    // MARK: The script's data

    func passkeyData(for step: Step) -> String {
        var json = JSONWriter()
        json.object { json in
            switch step {
            case .ownPasskeys:
                guard let passkeys else { break }
                json.member("isOffer", ifTrue: !visit.showsPasskeys)
                if let options = passkeys.options { json.object("creation") { $0.members(of: options) } }
                json.object("accepted") { json in
                    json.member("rpId", passkeys.relyingPartyID)
                    json.member("userId", Base64URL.encode(passkeys.userHandle))
                    json.member("allAcceptedCredentialIds", strings: passkeys.passkeys.map(\.id))
                }
            case .signIn:
                let key = FormFields([(name: "key", value: visit.apiKey)]).text
                json.member("start", "/v2/accounts/passkeySignIn:start?\(key)")
                json.member("tenantId", visit.tenant)
                if let unknownPasskey {
                    json.object("unknown") { json in
                        json.member("rpId", context.project?.settings.passkeys.relyingPartyID)
                        json.member("credentialId", unknownPasskey)
                    }
                }
            case .secondFactor:
                guard let challenge = visit.challenge, challenge.offersPasskey else { break }
                let key = FormFields([(name: "key", value: visit.apiKey)]).text
                json.member("start", "/v2/accounts/mfaSignIn:start?\(key)")
                json.member("tenantId", visit.tenant)
                json.member("pendingCredential", challenge.pendingCredential)
                json.member("enrollment", SignInWithSecondFactor.passkeyEnrollment)
            case .signUp, .forgotPassword, .mailSent, .emailCode, .emailCodeSent: break
            }
        }
        return json.text
    }
}
