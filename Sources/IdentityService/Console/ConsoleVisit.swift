import Accounts
import Domain
import NIOCore
import Projects
import Secrets
import Storage
import Text

/// A request of a signed-in admin.
struct ConsoleVisit: Sendable {
    let call: Call
    let session: ConsoleStore.Session
    /// Changes when the admin enters the password and a code again.
    var handle: Secret
    let isSecure: Bool

    /// The token in our forms: only a page with the session's handle can contain it (threats.md, T-D9).
    var formToken: String { Base64URL.encode(SecureHash.sha256("console form \(handle.reveal())")) }

    /// The same, as a field.
    var token: HTML { "<input type=\"hidden\" name=\"token\" value=\"\(formToken)\">" }

    func may(_ scope: AdminScope) -> Bool { session.admin.scopes.contains(scope) }
}

/// The project or tenant of a page.
struct ConsolePlace: Sendable {
    let project: Project

    var tenant: TenantID { project.tenant }

    /// Without a trailing `/`.
    var path: String { ConsolePath.path(of: project.scope) }

    /// The place of one of the project's tenants.
    ///
    /// - Parameter name: empty or nil for this place itself.
    /// - Throws: 404 for an unknown tenant, and for any in a tenant.
    func entering(tenant name: String?) throws(WireError) -> ConsolePlace {
        guard let name, !name.isEmpty else { return self }
        guard let found = project.tenants[TenantID(rawValue: name)] else { throw .tenantNotFound }
        return ConsolePlace(project: found.project)
    }

    func path(of account: AccountID) -> String { ConsolePath.path(of: account, in: project.scope) }
}

/// IDs in paths of the console, which may contain any character, including `/` and `:`.
package enum ConsolePath {
    /// Whether a path belongs to the console, even without a route, so that errors are shown as pages.
    static func holds(_ path: String) -> Bool { path == "/console" || path.hasPrefix("/console/") }

    /// Without a trailing `/`.
    static func path(of scope: Scope) -> String {
        let path = "/console/\(scope.project.rawValue)"
        return scope.tenant == .none ? path : path + "/tenants/\(segment(scope.tenant.rawValue))"
    }

    static func path(of account: AccountID, in scope: Scope) -> String {
        "\(path(of: scope))/accounts/\(segment(account.rawValue))"
    }

    /// Letters, digits, `.`, `_` and `-` stay; anything else becomes `~` followed by base64url.
    static func segment(_ id: String) -> String {
        let isPlain = id.consists(of: .alphanumerics + "._-") && !id.consists(of: ".")
        return isPlain ? id : "~" + Base64URL.encode(id.utf8)
    }

    /// The ID of a segment; nil if it is not valid.
    static func id(_ segment: String) -> String? {
        guard segment.hasPrefix("~") else { return segment }
        guard let bytes = Base64URL.decode(segment.dropFirst()), !bytes.isEmpty, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The page after a sign-in: the console page that the request named, otherwise the start page.
    ///
    /// It can never lead to another host: it starts with our own path and contains no character that browsers interpret
    /// specially.
    package static func next(_ text: String?) -> String {
        guard let text, text.utf8.count <= 512, text == "/console" || text.hasPrefix("/console/"),
            text.consists(of: .unreserved + "/%?=&+"), !text.contains("//"), !text.contains(".."),
            !text.hasPrefix("/console/sign-in")
        else { return "/console" }
        return text
    }
}

/// The fields of a console form.
struct ConsoleForm: Sendable {
    let items: FormFields

    /// - Throws: if the body is not a form.
    init(_ call: Call) throws {
        guard let items = FormFields(strict: call.body.readableBytesView), items.pairs.count <= 256 else {
            throw WireError.invalidRequest("Invalid form payload received.", field: nil)
        }
        self.items = items
    }

    /// Empty if absent.
    ///
    /// - Throws: if it is repeated.
    func value(_ name: String) throws -> String { try items.value(name) ?? "" }

    /// The reason for the audit log, one line of at most 256 characters.
    var reason: String? {
        get throws {
            let text = String(WireError.line(try value("reason")).prefix(256))
            return text.allSatisfy(\.isWhitespace) ? nil : text
        }
    }

    /// The version that the form's page was rendered with.
    var version: Int64 {
        get throws {
            guard let version = Int64(try value("version")) else {
                throw WireError.invalidRequest("version must be a number.", field: "version")
            }
            return version
        }
    }
}
