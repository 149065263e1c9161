import Foundation
import Linking
import Projects
import Secrets
import Storage

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
        var items = [("mode", type.mode), ("oobCode", code.reveal()), ("apiKey", apiKey)]
        if let continueURL { items.append(("continueUrl", continueURL)) }
        items.append(("lang", language ?? "en"))
        if tenant != .none { items.append(("tenantId", tenant.rawValue)) }
        return base + "?" + items.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
    }

    /// An app's own URL with the parameters that its SDK expects; existing ones with the same names are replaced.
    ///
    /// - Parameter url: a continue URL that was checked.
    static func inApp(_ url: String, type: OOBCodeType, code: Secret, _ caller: Caller) -> String {
        var items = [
            ("mode", type.mode), ("lang", caller.language ?? "en"), ("oobCode", code.reveal()),
            ("apiKey", caller.apiKey ?? ""),
        ]
        if caller.tenant != .none { items.append(("tenantId", caller.tenant.rawValue)) }
        return adding(items, to: url)
    }

    /// An app's own URL with added query parameters; existing ones with the same names are replaced.
    static func adding(_ items: [(String, String)], to url: String) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let parts = url[..<fragment].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let others = (parts.count == 2 ? parts[1] : "").split(separator: "&").filter { pair in
            let name = pair.prefix { $0 != "=" }
            return !items.contains { $0.0 == name.removingPercentEncoding }
        }
        let query = others.map { String($0) } + items.map { "\($0)=\(escaped($1))" }
        return parts[0] + "?" + query.joined(separator: "&") + url[fragment...]
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// RFC 3986 §2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
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
