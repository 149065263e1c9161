import Secrets
import Text

extension TenantState {
    /// The page on which a person chooses an account; a browser without scripts is enough.
    func page(_ fields: FormFields, client: TestClient, redirect: String) -> ProviderAnswer {
        let hidden = fields.pairs.filter { !["choice", "subject", "email", "name", "verified"].contains($0.name) }
        let page = AuthorizationPage(
            title: title,
            action: url(.authorization) ?? "",
            app: client.id,
            hidden: hidden,
            people: userOrder.compactMap { users[$0] },
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

    /// The account for input under "Use another account".
    ///
    /// It is the one that already has the address, or a new one whose subject is derived from the address, so that it
    /// is the same user next time.
    mutating func otherAccount(_ fields: FormFields) -> TestUser? {
        guard let email = fields["email"], email.contains("@") else { return nil }
        let isVerified = fields["verified"] != nil
        if let known = users.values.first(where: { $0.email?.lowercased() == email.lowercased() }) {
            return known
        }
        let digest = SecureHash.sha256(email.lowercased())
        // Decimal, because GitHub's ids are.
        let subject = String(digest.prefix(6).reduce(UInt64(1)) { $0 << 8 | UInt64($1) })
        let user = TestUser(
            subject,
            email: email,
            emailVerified: isVerified,
            name: fields["name"].flatMap { $0.isEmpty ? nil : $0 },
            login: email.split(separator: "@").first.map(String.init)
        )
        addUser(user)
        return user
    }
}
