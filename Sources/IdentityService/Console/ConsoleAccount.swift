import Accounts
import Domain
import Passkeys
import Projects
import Sessions
import Storage

/// The content of an account's page.
struct ConsoleAccount {
    let account: Account
    let place: ConsolePlace
    let visit: ConsoleVisit
    /// The names of applications, by client ID.
    var applications: [String: String] = [:]

    private var path: String { place.path(of: account.id) }
    private var mayChange: Bool { visit.may(.manageAccounts) }

    // MARK: What it is

    var facts: HTML {
        var facts: [(name: String, value: HTML?)] = []
        facts.append(("ID", "<code>\(account.id.rawValue)</code>"))
        facts.append(("Email address", account.email.map { "<bdi>\($0.original)</bdi>" }))
        facts.append(("Phone number", account.phoneNumber.map { "\($0)" }))
        facts.append(("Name", account.displayName.map { "<bdi>\($0)</bdi>" }))
        facts.append(("Custom claims", account.customAttributes.map { "<code>\($0)</code>" }))
        facts.append(("Created", ConsoleText.time(account.createdAt)))
        facts.append(("Last sign-in", account.lastSignInAt.map { ConsoleText.time($0) }))
        facts.append(("Last refresh", account.lastRefreshAt.map { ConsoleText.time($0) }))
        return "<p>\(html: ConsoleText.tags(of: account))</p>\n\(html: ConsoleText.facts(facts))\n"
    }

    var methods: HTML {
        let own = account.ownMethods.subtracting([.passkey]).sorted { $0.rawValue < $1.rawValue }.map {
            method -> [HTML] in
            let removable = method != .emailLink
            let detail: HTML =
                switch method {
                case .phone: "\(account.phoneNumber ?? "")"
                default: "<bdi>\(account.email?.original ?? "")</bdi>"
                }
            return ["\(ConsoleText.name(of: method))", detail, removable ? unlinking(method) : ""]
        }
        let linked = account.linked.map { credential -> [HTML] in
            let address: HTML? = credential.email.map { "<br><bdi>\($0)</bdi>" }
            return [
                "\(ConsoleText.name(of: credential.provider))<br><span class=\"quiet\">\(credential.provider.rawValue)</span>",
                "<code>\(credential.subject)</code>\(html: address)", unlinking(credential.provider),
            ]
        }
        return ConsoleText.section(
            "methods",
            "Sign-in methods",
            ConsoleText.table("Sign-in methods", ["Method", "Identifier", ""], own + passkeys + linked),
            else: "No sign-in methods. This is an anonymous account, or the user signs in with custom tokens."
        )
    }

    /// One row each, with the authenticator's model if it is a known one.
    private var passkeys: [[HTML]] {
        account.passkeys.map { passkey in
            let model = AAGUID(bytes: passkey.aaguid)?.name
            let name = passkey.name ?? model ?? "Unnamed"
            let details = [model == name ? nil : model, passkey.isBackupEligible ? "synchronized" : "on one device"]
            let used: HTML = passkey.lastUsedAt.map { ", last used \(html: ConsoleText.time($0))" } ?? ""
            return [
                "\(ConsoleText.name(of: .passkey))",
                """
                <bdi>\(name)</bdi><br><span class="quiet">\(details.compactMap(\.self).joined(separator: ", ")), \
                since \(html: ConsoleText.time(passkey.enrolledAt))\(html: used)</span>
                """,
                disclosure(
                    "Remove",
                    "Removes this passkey from the account, even if it is the last sign-in method.",
                    "unlink",
                    "Remove the passkey",
                    "<input type=\"hidden\" name=\"passkey\" value=\"\(passkey.id)\">"
                ),
            ]
        }
    }

    private func unlinking(_ method: ProviderID) -> HTML {
        let name = ConsoleText.name(of: method)
        return disclosure(
            "Remove",
            "Removes \(name) from the account, even if it is the last sign-in method. The user can link it again.",
            "unlink",
            "Remove \(name)",
            "<input type=\"hidden\" name=\"provider\" value=\"\(method.rawValue)\">"
        )
    }

    var secondFactors: HTML {
        let rows = account.secondFactors.map { factor -> [HTML] in
            [
                "\(factor.isTOTP ? "Authenticator app" : "SMS")", "\(factor.phoneNumber ?? "")",
                "<bdi>\(factor.displayName ?? "")</bdi>", ConsoleText.time(factor.enrolledAt),
            ]
        }
        return ConsoleText.section(
            "factors",
            "Second factors",
            ConsoleText.table("Second factors", ["Kind", "Number", "Name", "Since"], rows),
            else: "No second factors are enrolled."
        )
    }

    func sessions(_ sessions: [SessionSummary]) -> HTML {
        let rows = sessions.map { session -> [HTML] in
            [
                "\(ConsoleText.name(of: session.signInProvider))", application(of: session),
                "\(session.userAgent ?? "")",
                "\(session.addressPrefix ?? "")", ConsoleText.time(session.createdAt),
                ConsoleText.time(session.lastUsedAt),
                button(
                    "signOut",
                    "Sign out",
                    "<input type=\"hidden\" name=\"session\" value=\"\(session.id.rawValue)\">"
                ) ?? "",
            ]
        }
        let all: HTML? = rows.count > 1 ? button("signOut", "Sign out everywhere", nil) : nil
        let heads = ["Signed in with", "Application", "Device", "Network", "Since", "Last used", ""]
        let table = ConsoleText.table("Sessions", heads, rows).map { "\(html: $0)\(html: all)" as HTML }
        return ConsoleText.section("sessions", "Sessions", table, else: "No active sessions.")
    }

    /// The application to which the user granted the session; empty for one of the project's own apps.
    private func application(of session: SessionSummary) -> HTML {
        guard let client = session.client else { return "" }
        guard let name = applications[client] else { return "<code>\(client)</code> (deleted)" }
        return "<bdi>\(name)</bdi>"
    }

    func detached(_ detached: [DetachedCredential]) -> HTML {
        let rows = detached.map { credential -> [HTML] in
            let reason =
                switch credential.reason {
                case .takeOver: "Its email was verified by a user of"
                case .emailRecycled: "The provider reassigned the email to another user of"
                }
            return [
                "\(ConsoleText.name(of: credential.provider))",
                "<code>\(credential.subject)</code> <bdi>\(credential.email ?? "")</bdi>",
                ConsoleText.time(credential.detachedAt),
                "\(reason) \(ConsoleText.name(of: credential.byProvider)) <code>\(credential.bySubject)</code>",
            ]
        }
        return ConsoleText.section(
            "detached",
            "Detached credentials",
            ConsoleText.table("Detached credentials", ["Method", "Identifier", "When", "Reason"], rows),
            else: "No sign-in methods were detached from this account."
        )
    }

    func merges(_ merges: [AccountStore.UndoableMerge]) -> HTML {
        let rows = merges.map { merge -> [HTML] in
            [
                "<code>\(merge.merged.rawValue)</code>", ConsoleText.time(merge.mergedAt),
                ConsoleText.time(merge.undoableUntil),
                disclosure(
                    "Undo",
                    "Restores the merged account, except for anything changed since the merge. Its sessions are not restored.",
                    "undoMerge",
                    "Undo merge",
                    "<input type=\"hidden\" name=\"merge\" value=\"\(merge.id)\">"
                ),
            ]
        }
        let heads = ["Merged account", "When", "Can be undone until", ""]
        // The section is omitted for accounts without merges.
        guard let table = ConsoleText.table("Merges", heads, rows) else { return "" }
        return ConsoleText.section("merges", "Merges", table)
    }

    func history(_ changes: [RecordedChange], hasMore: Bool) -> HTML {
        let segment = ConsolePath.segment(account.id.rawValue)
        let more: HTML? =
            hasMore ? "<p><a href=\"\(place.path)/audit?account=\(segment)\">Show all entries</a></p>" : nil
        let table = ConsoleText.table(of: changes, in: place, withAccounts: false)
        return ConsoleText.section(
            "history",
            "Audit log",
            table.map { "\(html: $0)\(html: more)" },
            else:
                "No entries. The audit log starts when it is turned on and keeps entries for the project's retention time."
        )
    }

    // MARK: What can be done

    var actions: HTML {
        guard mayChange else { return "" }
        let reset: HTML? =
            account.email == nil
            ? nil
            : disclosure(
                "Send a password reset email",
                "Sends a link to \(account.email?.original ?? ""). With it, the user sets a new password.",
                "sendReset",
                "Send email"
            )
        let field: HTML = """
            <label for="merged">Other account: email address, phone number or ID</label>
            <input id="merged" name="merged" maxlength="512" autocomplete="off" spellcheck="false" required>

            """
        let confirm: HTML = """
            <label for="confirm">Type the account ID to confirm: <code>\(account.id.rawValue)</code></label>
            <input id="confirm" name="confirm" maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false" required>

            """
        let disabling =
            account.isDisabled
            ? disclosure("Enable", "The user can sign in again.", "enable", "Enable account")
            : disclosure(
                "Disable",
                "The user cannot sign in, and existing sessions are refused, until you enable the account again.",
                "disable",
                "Disable account"
            )
        let merging = disclosure(
            "Merge another account into this one",
            "Shows a preview first.",
            "previewMerge",
            "Preview merge",
            field
        )
        let deleting = disclosure(
            "Delete",
            "Permanently deletes the account, its sign-in methods and its sessions.",
            "delete",
            "Delete account",
            confirm
        )
        let content: HTML = "\(html: disabling)\(html: reset)\(html: merging)\(html: deleting)"
        return ConsoleText.section("actions", "Actions", content)
    }

    /// A preview of a merge, and the form that carries it out.
    func merge(_ other: Account, _ merge: AccountMerge, reason: String) -> HTML {
        func names(_ methods: [ProviderID]) -> HTML {
            methods.isEmpty ? "nothing" : "\(methods.map { ConsoleText.name(of: $0) }.joined(separator: ", "))"
        }
        let conflicts = merge.conflicts.map { conflict -> HTML in
            "<li><b>\(ConsoleText.name(of: conflict.method))</b>: \(Self.words(for: conflict.reason))</li>"
        }
        let dropped = merge.conflicts.map(\.method.rawValue).joined(separator: " ")
        let givenUp: HTML? =
            conflicts.isEmpty
            ? nil
            : """
            <p>These items conflict with the remaining account and will be dropped:</p>
            <ul>\(html: conflicts)</ul>
            """
        guard !merge.conflicts.contains(where: { $0.method == AccountMerge.email }) else {
            return """
                <p>These accounts cannot be merged: the email address of the remaining account would be \
                \(merge.survivor.email?.original ?? ""), which is not verified. The user who verifies it would take
                everything over. Have the user verify the address first, or keep the account with the verified address.</p>
                <p><a href="\(path)">Back</a></p>
                """
        }
        let address = merge.survivor.email?.original ?? "none"
        var facts: [(name: String, value: HTML?)] = []
        facts.append(("Remains", "<bdi>\(ConsoleText.name(of: account))</bdi> <code>\(account.id.rawValue)</code>"))
        facts.append(("Merged into it", "<bdi>\(ConsoleText.name(of: other))</bdi> <code>\(other.id.rawValue)</code>"))
        facts.append(("Moves to the remaining account", names(merge.moved)))
        facts.append(("Email address after the merge", "<bdi>\(address)</bdi>"))
        return """
            \(html: ConsoleText.facts(facts))
            \(html: givenUp)
            <p>The merged account's sessions end, and its ID becomes an alias of this account. You can undo the merge for a week.</p>
            <form class="narrow" method="post" action="\(path)">
            \(html: hidden("merge"))
            <input type="hidden" name="merged" value="\(other.id.rawValue)">
            <input type="hidden" name="mergedVersion" value="\(String(other.version))">
            <input type="hidden" name="dropped" value="\(dropped)">
            \(html: reasonField(reason))
            <button class="danger">Merge</button> <a href="\(path)">Cancel</a>
            </form>
            """
    }

    // MARK: Forms

    private func hidden(_ action: String) -> HTML {
        """
        \(html: visit.token)<input type="hidden" name="do" value="\(action)">\
        <input type="hidden" name="version" value="\(String(account.version))">
        """
    }

    private func reasonField(_ reason: String = "") -> HTML {
        """
        <label>Reason, for the audit log (optional)
        <input name="reason" value="\(reason)" maxlength="256" autocomplete="off"></label>

        """
    }

    /// A disclosure with a form and its explanation; empty for admins who may not use it.
    private func disclosure(
        _ title: String,
        _ explanation: String,
        _ action: String,
        _ button: String,
        _ fields: HTML? = nil
    ) -> HTML {
        guard mayChange else { return "" }
        return """
            <details>
            <summary>\(title)</summary>
            <form method="post" action="\(path)">
            <p>\(explanation)</p>
            \(html: hidden(action))
            \(html: fields)\(html: reasonField())<button class="danger">\(button)</button>
            </form>
            </details>

            """
    }

    /// A form with a single button.
    private func button(_ action: String, _ title: String, _ fields: HTML?) -> HTML? {
        guard mayChange else { return nil }
        return """
            <form method="post" action="\(path)">
            \(html: hidden(action))\(html: fields)<button class="plain">\(title)</button>
            </form>
            """
    }

    // MARK: What is wrong

    static func words(for error: any Error) -> HTML {
        if case AccountsError.sessionNotFound = error { return "<p>This session has already ended.</p>" }
        if case AccountsError.sameAccount = error { return "<p>This is the same account. Choose another one.</p>" }
        let wire = WireError(mapping: error)
        return switch wire.code ?? wire.statusName {
        case "ABORTED":
            """
            <p>Nothing was changed: the account changed after you opened the page. The page now shows the current account, with
            the change at the top of its audit log. Review it, then try again if needed.</p>
            """
        case "MISSING_LOCAL_ID": "<p>The account was not deleted: the ID that you typed does not match.</p>"
        case "EMAIL_NOT_FOUND": "<p>Nothing was changed: no account matches.</p>"
        case "OPERATION_NOT_ALLOWED":
            "<p>The email was not sent: set http.publicURL first, because links in emails start with it.</p>"
        case "MERGE_NOT_FOUND", "MERGE_NOT_UNDOABLE": "<p>Nothing was changed: \(wire.message)</p>"
        case "USER_DISABLED": "<p>Nothing was changed: enable the account before you merge it.</p>"
        case let code: "<p>Nothing was changed. Error code: \(code ?? "")</p>"
        }
    }

    private static func words(for reason: AccountMerge.Reason) -> String {
        switch reason {
        case .alreadyLinked: "the remaining account already has one"
        case .otherAddress: "it belongs to an email address that is not kept"
        case .emailNotVerified: "its email address is not verified"
        case .phoneSignIn: "accounts with second factors cannot sign in by phone"
        case .tooMany: "the account would exceed the limit"
        case .enrollmentExists: "both accounts have a second factor with the same ID"
        }
    }
}
