import Domain
import Projects
import Secrets
import Storage
import Text

/// The link in an email, to the page that applies its code.
///
/// It always starts with the configured URL, whatever the request contains (threats.md, T-E3).
struct ActionLink {
    /// `http.publicURL` and the page's path.
    var base: String
    var type: OOBCodeType
    var code: Secret
    var apiKey: String
    var continueURL: String?
    var language: String?
    var tenant: TenantID

    var text: String {
        var items: [(name: String, value: String)] = [
            ("mode", type.mode), ("oobCode", code.reveal()), ("apiKey", apiKey),
        ]
        if let continueURL { items.append(("continueUrl", continueURL)) }
        items.append(("lang", language ?? "en"))
        if tenant != .none { items.append(("tenantId", tenant.rawValue)) }
        return base + "?" + FormFields(items).text
    }

    /// An app's own URL with the parameters that its SDK expects; existing ones with the same names are replaced.
    ///
    /// - Parameter url: a continue URL that was checked.
    static func inApp(_ url: String, type: OOBCodeType, code: Secret, _ caller: Caller) -> String {
        var items: [(name: String, value: String)] = [
            ("mode", type.mode), ("lang", caller.language ?? "en"), ("oobCode", code.reveal()),
            ("apiKey", caller.apiKey ?? ""),
        ]
        if caller.tenant != .none { items.append(("tenantId", caller.tenant.rawValue)) }
        return url.adding(items)
    }
}

extension OOBCodeType {
    /// - Parameter mode: as in a link; nil for any other text.
    package init?(mode: String) {
        guard let type = Self.allCases.first(where: { $0.mode == mode }) else { return nil }
        self = type
    }

    /// The `mode` parameter of a link.
    package var mode: String {
        switch self {
        case .passwordReset: "resetPassword"
        case .verifyEmail: "verifyEmail"
        case .recoverEmail: "recoverEmail"
        case .emailSignIn: "signIn"
        case .verifyAndChangeEmail: "verifyAndChangeEmail"
        case .revertSecondFactor: "revertSecondFactorAddition"
        }
    }
}
