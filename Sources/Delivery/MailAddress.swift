package import Domain

/// The sender of an email: an address and a name that are safe in a header.
package struct MailAddress: Sendable, Hashable {
    package let email: EmailAddress
    package let name: String?

    /// Nil for a name with a control character, because a line break would start another header.
    package init?(_ email: EmailAddress, name: String? = nil) {
        guard name?.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) ?? true else { return nil }
        self.email = email
        self.name = name.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads `ada@example.com` or `Ada Lovelace <ada@example.com>`.
    package init?(parsing text: String) {
        guard text.hasSuffix(">"), let bracket = text.lastIndex(of: "<") else {
            guard let email = EmailAddress(text) else { return nil }
            self.init(email)
            return
        }
        var name = text[..<bracket]
        while name.last == " " { name.removeLast() }
        if name.count > 1, name.first == "\"", name.last == "\"" { name = name.dropFirst().dropLast() }
        guard let email = EmailAddress(String(text[text.index(after: bracket)...].dropLast())) else { return nil }
        self.init(email, name: String(name))
    }

    /// The user's own spelling before the `@`, and the domain as DNS has it.
    package static func onTheWire(_ email: EmailAddress) -> String {
        let local = email.original.prefix { $0 != "@" }
        // Dots without a word on both sides need quotes (RFC 5321 §4.1.2); what quotes cannot hold is in no address.
        let isPlain = local.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty
        }
        return (isPlain ? "\(local)" : "\"\(local)\"") + "@\(email.domain)"
    }

    /// `"Ada" <ada@example.com>`, folded if it is long.
    var header: String {
        let address = Self.onTheWire(email)
        return name.map { "\(MailHeader.phrase($0)) <\(address)>" } ?? address
    }
}
