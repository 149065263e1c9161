import Accounts
import Linking
import Projects
import Sessions
import Storage

/// What the page of an account says of it.
struct ConsoleAccount {
    let account: Account
    let place: ConsolePlace
    let visit: ConsoleVisit

    private var path: String { place.path(of: account.id) }
    private var mayChange: Bool { visit.may(.manageAccounts) }

    // MARK: What it is

    var facts: HTML {
        var facts: [(name: String, value: HTML?)] = []
        facts.append(("Id", "<code>\(account.id.rawValue)</code>"))
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
        let own = account.ownMethods.sorted { $0.rawValue < $1.rawValue }.map { method -> [HTML] in
            let removable = method == .password || method == .phone
            let detail: HTML =
                method == .phone ? "\(account.phoneNumber ?? "")" : "<bdi>\(account.email?.original ?? "")</bdi>"
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
            ConsoleText.table("Sign-in methods", ["Method", "By which it is known", ""], own + linked),
            else: "There is none: a guest, or somebody who comes by custom tokens. Nobody signs in to it otherwise."
        )
    }

    private func unlinking(_ method: ProviderID) -> HTML {
        let name = ConsoleText.name(of: method)
        return disclosure(
            "Remove",
            "Removes \(name) from the account, even if it is the last way in. The person can link it again.",
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
            else: "None is enrolled."
        )
    }

    func sessions(_ sessions: [SessionSummary]) -> HTML {
        let rows = sessions.map { session -> [HTML] in
            [
                "\(ConsoleText.name(of: session.signInProvider))", "\(session.userAgent ?? "")",
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
        let heads = ["Signed in with", "Device", "Network", "Since", "Last used", ""]
        let table = ConsoleText.table("Sessions", heads, rows).map { "\(html: $0)\(html: all)" as HTML }
        return ConsoleText.section("sessions", "Sessions", table, else: "Nobody is signed in.")
    }

    func detached(_ detached: [DetachedCredential]) -> HTML {
        let rows = detached.map { credential -> [HTML] in
            let reason =
                switch credential.reason {
                case .takeOver: "Its address was proved by somebody who came with"
                case .emailRecycled: "The provider gave the address to somebody else, who came with"
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
            ConsoleText.table("Detached credentials", ["Method", "Of whom", "When", "Why"], rows),
            else: "The account has lost no sign-in method to another identity."
        )
    }

    func merges(_ merges: [AccountStore.UndoableMerge]) -> HTML {
        let rows = merges.map { merge -> [HTML] in
            [
                "<code>\(merge.merged.rawValue)</code>", ConsoleText.time(merge.mergedAt),
                ConsoleText.time(merge.undoableUntil),
                disclosure(
                    "Undo",
                    "The account comes back with what it had, as far as nobody changed it since; its sessions stay over.",
                    "undoMerge",
                    "Undo the merge",
                    "<input type=\"hidden\" name=\"merge\" value=\"\(merge.id)\">"
                ),
            ]
        }
        let heads = ["Account that it took in", "When", "To be undone until", ""]
        // An account that took in none needs no word of it.
        guard let table = ConsoleText.table("Merges", heads, rows) else { return "" }
        return ConsoleText.section("merges", "Merges", table)
    }

    func history(_ changes: [RecordedChange], hasMore: Bool) -> HTML {
        let segment = ConsolePath.segment(account.id.rawValue)
        let more: HTML? =
            hasMore ? "<p><a href=\"\(place.path)/audit?account=\(segment)\">All of its audit trail</a></p>" : nil
        let table = ConsoleText.table(of: changes, in: place, withAccounts: false)
        return ConsoleText.section(
            "history",
            "Audit trail",
            table.map { "\(html: $0)\(html: more)" },
            else:
                "Nothing is recorded of it: the log keeps what happened since it was switched on, for as long as the project says."
        )
    }

    // MARK: What can be done

    var actions: HTML {
        guard mayChange else { return "" }
        let reset: HTML? =
            account.email == nil
            ? nil
            : disclosure(
                "Send a mail to reset the password",
                "The link in it goes to \(account.email?.original ?? ""), and lets the person choose another password.",
                "sendReset",
                "Send the mail"
            )
        let field: HTML = """
            <label for="merged">The other account: its address, number or id</label>
            <input id="merged" name="merged" maxlength="512" autocomplete="off" spellcheck="false" required>

            """
        let confirm: HTML = """
            <label for="confirm">Type the account's id to confirm: <code>\(account.id.rawValue)</code></label>
            <input id="confirm" name="confirm" maxlength="512" autocomplete="off" autocapitalize="off" spellcheck="false" required>

            """
        let disabling =
            account.isDisabled
            ? disclosure("Enable", "The person can sign in again.", "enable", "Enable the account")
            : disclosure(
                "Disable",
                "Nobody can sign in to it, and its sessions are refused, until it is enabled again.",
                "disable",
                "Disable the account"
            )
        let merging = disclosure(
            "Merge another account into this one",
            "Shows what would come of it first.",
            "previewMerge",
            "Show what would come of it",
            field
        )
        let deleting = disclosure(
            "Delete",
            "The account, its sign-in methods and sessions are gone for good.",
            "delete",
            "Delete the account",
            confirm
        )
        let content: HTML = "\(html: disabling)\(html: reset)\(html: merging)\(html: deleting)"
        return ConsoleText.section("actions", "Actions", content)
    }

    /// What would come of a merge, and the form that carries it out.
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
            <p>This account cannot take the following beside what it has; it is given up:</p>
            <ul>\(html: conflicts)</ul>
            """
        let address = merge.survivor.email?.original ?? "none"
        var facts: [(name: String, value: HTML?)] = []
        facts.append(("Stays", "<bdi>\(ConsoleText.name(of: account))</bdi> <code>\(account.id.rawValue)</code>"))
        facts.append(("Goes", "<bdi>\(ConsoleText.name(of: other))</bdi> <code>\(other.id.rawValue)</code>"))
        facts.append(("The one that stays takes", names(merge.moved)))
        facts.append(("Its address then", "<bdi>\(address)</bdi>"))
        return """
            \(html: ConsoleText.facts(facts))
            \(html: givenUp)
            <p>Sessions of the other account end, and its id leads to this one. For a week the merge can be undone.</p>
            <form class="narrow" method="post" action="\(path)">
            \(html: hidden("merge"))
            <input type="hidden" name="merged" value="\(other.id.rawValue)">
            <input type="hidden" name="mergedVersion" value="\(String(other.version))">
            <input type="hidden" name="dropped" value="\(dropped)">
            \(html: reasonField(reason))
            <button class="danger">Merge</button> <a href="\(path)">Leave both as they are</a>
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

    /// Opens to a form that says what will happen; nil for who may not do it.
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

    /// A form of one button.
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
        if case AccountsError.sessionNotFound = error { return "<p>That session is over already.</p>" }
        if case AccountsError.sameAccount = error { return "<p>That is this account itself.</p>" }
        let wire = WireError(mapping: error)
        return switch wire.code ?? wire.statusName {
        case "ABORTED":
            """
            <p>Nothing was changed: somebody changed the account after you had opened the page. It is shown as it is now, with
            the change at the top of its audit trail. Look at it, and do it again if it is still right.</p>
            """
        case "MISSING_LOCAL_ID": "<p>The account was not deleted: what you typed is not its id.</p>"
        case "EMAIL_NOT_FOUND": "<p>Nothing was changed: there is no such account here.</p>"
        case "OPERATION_NOT_ALLOWED":
            "<p>Nothing was done: the service does not know its own address, where links of mails begin (http.publicURL).</p>"
        case "MERGE_NOT_FOUND", "MERGE_NOT_UNDOABLE": "<p>Nothing was changed: \(wire.message)</p>"
        case "USER_DISABLED": "<p>Nothing was changed: a disabled account is to be enabled before it is merged.</p>"
        case let code: "<p>Nothing was changed. Error code: \(code ?? "")</p>"
        }
    }

    private static func words(for reason: AccountMerge.Reason) -> String {
        switch reason {
        case .alreadyLinked: "this account has one of its own"
        case .otherAddress: "it belongs to an address that does not come along"
        case .emailNotVerified: "nobody proved the address of that password"
        case .phoneSignIn: "an account with second factors is not opened by phone"
        case .tooMany: "together they would be more than an account has"
        case .enrollmentExists: "both have second factors of the same id"
        }
    }
}
