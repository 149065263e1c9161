import Foundation
import Linking
import Projects
import Secrets
import Storage

/// The link of a mail: to the page that carries out what its code is good for.
///
/// It begins where configuration says, whatever the request came with (docs/threats.md, T-E3).
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

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// RFC 3986 §2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension OOBCodeType {
    /// `mode` of a link.
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
