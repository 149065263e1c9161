import Projects

/// Whether a page may lead on to a URL that its link names.
package struct CheckContinueURL: Sendable {
    let parts: Parts

    /// The URL; nil for one that the project does not know, and for none.
    package func callAsFunction(_ text: String?, _ caller: Caller) -> String? {
        try? parts.continueURL(text, caller)
    }
}

extension Parts {
    /// An app's own URL, where the project lets browsers be sent; what follows a `#` is the app's business.
    ///
    /// - Throws: ``AccountsError/invalidContinueURI(_:)``, ``AccountsError/unauthorizedDomain``.
    func continueURL(_ text: String?, _ caller: Caller) throws(AccountsError) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let isPlain = text.utf8.count <= 2048 && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 92 }
        guard isPlain, let uri = ContinueURI(String(text.prefix { $0 != "#" })) else {
            throw .invalidContinueURI("The continue URL must be an absolute http or https URL.")
        }
        guard uri.isAllowed(by: caller.project.settings, anyLoopback: development) else {
            throw .unauthorizedDomain
        }
        return text
    }
}
