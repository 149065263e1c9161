import Secrets
import Text

extension TenantState {
    /// The page on which a person chooses an account; a browser without scripts is enough.
    func page(_ fields: FormFields, client: TestClient, redirect: String) -> ProviderAnswer {
        let own = ["choice", "subject", "email", "name", "screen_name", "photo_url", "verified"]
        let hidden = fields.pairs.filter { !own.contains($0.name) }
        let page = AuthorizationPage(
            title: title,
            action: url(.authorization) ?? "",
            app: client.id,
            hidden: hidden,
            people: userOrder.compactMap { users[$0] },
            suggestion: madeUpUser(),
            scopes: fields.words("scope")
        )
        return ProviderAnswer(
            headers: [
                ("Content-Security-Policy", AuthorizationPage.policy(redirect: redirect)),
                ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
                ("X-Content-Type-Options", "nosniff"),
            ],
            .html(page.html)
        )
    }

    /// The account for input under "Add new account".
    ///
    /// It is the one that already has the address, or a new one whose subject is derived from the address, so that it
    /// is the same user next time.
    mutating func otherAccount(_ fields: FormFields) -> TestUser? {
        func typed(_ name: String) -> String? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let email = typed("email"), email.contains("@") else { return nil }
        var user = self.user(email: email, name: typed("name"), login: typed("screen_name"))
        user.emailVerified = fields["verified"] != nil
        user.picture = typed("photo_url")
        return known(email) ?? added(user)
    }

    /// A new account of a made-up person.
    mutating func generatedAccount() -> TestUser { added(madeUpUser()) }

    private func known(_ email: String) -> TestUser? {
        users.values.first { $0.email?.lowercased() == email.lowercased() }
    }

    private mutating func added(_ user: TestUser) -> TestUser {
        if users[user.subject] == nil { guests.insert(user.subject) }
        addUser(user)
        return user
    }

    private func user(email: String, name: String?, login: String?) -> TestUser {
        let digest = SecureHash.sha256(email.lowercased())
        // Decimal, because GitHub's ids are.
        let subject = String(digest.prefix(6).reduce(UInt64(1)) { $0 << 8 | UInt64($1) })
        let local = email.split(separator: "@").first.map(String.init)
        return TestUser(subject, email: email, name: name, login: login ?? local)
    }

    /// A name and an address that no account has yet.
    private func madeUpUser() -> TestUser {
        while true {
            let bytes = random.bytes(2).map(Int.init)
            let given = Self.givenNames[bytes[0] % Self.givenNames.count]
            let family = Self.familyNames[bytes[1] % Self.familyNames.count]
            let address = "\(given).\(family).\(random.text(4, of: "0123456789"))@example.com".lowercased()
            guard known(address) == nil else { continue }
            return user(email: address, name: "\(given) \(family)", login: "\(family)_\(given)".lowercased())
        }
    }

    private static let givenNames = ["Amber", "Coral", "Hazel", "Jade", "Olive", "Robin", "Rowan", "Ruby"]
    private static let familyNames = ["Finch", "Heron", "Kestrel", "Lark", "Martin", "Nightingale", "Swift", "Wren"]
}
