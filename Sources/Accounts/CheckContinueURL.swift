import Projects
import Text

extension AccountsService { package var checkContinueURL: CheckContinueURL { CheckContinueURL(service: self) } }

/// Checks whether a page may continue to a URL from its link.
package struct CheckContinueURL: Sendable {
    let service: AccountsService

    /// The URL; nil if the project does not allow it, or if there is none.
    package func callAsFunction(_ text: String?, _ caller: Caller) -> String? {
        try? service.continueURL(text, caller)
    }
}

extension AccountsService {
    /// An app's own URL, if the project allows it; the fragment is not checked.
    ///
    /// - Throws: ``AccountsError/invalidContinueURI(_:)``, ``AccountsError/unauthorizedDomain``.
    func continueURL(_ text: String?, _ caller: Caller) throws(AccountsError) -> String? {
        guard let given = text, !given.isEmpty else { return nil }
        // As browsers do it: `/Ü` is `/%C3%9C`.
        let text = PercentEncoding.encode(given, keeping: .ascii)
        let isPlain = text.utf8.count <= 2048 && text.consists(of: .visible) && !text.contains("\\")
        guard isPlain, let uri = ContinueURI(String(text.prefix { $0 != "#" })) else {
            throw .invalidContinueURI("The continue URL must be an absolute http or https URL.")
        }
        guard uri.isAllowed(by: caller.project.settings, anyLoopback: options.development) else {
            throw .unauthorizedDomain
        }
        return text
    }
}
