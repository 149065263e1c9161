import Accounts
import Linking
import NIOCore
import Projects
import Secrets
import Storage

/// A request of somebody who is signed in to the console.
struct ConsoleVisit: Sendable {
    let call: Call
    let session: ConsoleStore.Session
    /// Another one once password and code were asked for again.
    var handle: Secret
    let isSecure: Bool

    /// What a form of ours proves with: only who has the session's handle can know it (threats.md, T-D9).
    var formToken: String { Base64URL.encode(SecureHash.sha256("console form \(handle.reveal())")) }

    /// The same, as a field.
    var token: HTML { "<input type=\"hidden\" name=\"token\" value=\"\(formToken)\">" }

    func may(_ scope: AdminScope) -> Bool { session.admin.scopes.contains(scope) }
}

/// The project of a page, or a tenant of it.
struct ConsolePlace: Sendable {
    /// As it is in the tenant, if there is one.
    let project: Project
    let tenant: TenantID

    /// Without a `/` at its end.
    var path: String {
        let path = "/console/\(project.id.rawValue)"
        return tenant == .none ? path : path + "/tenants/\(ConsolePath.segment(tenant.rawValue))"
    }

    func path(of account: AccountID) -> String { "\(path)/accounts/\(ConsolePath.segment(account.rawValue))" }
}

/// Ids in paths of the console: they may hold anything, a `/` and a `:` too.
package enum ConsolePath {
    /// Whether a path is the console's, though no route may have it: people see a page there.
    static func holds(_ path: String) -> Bool { path == "/console" || path.hasPrefix("/console/") }

    /// Letters, digits, `.`, `_` and `-` stand as they are, all else in base64url behind a `~`.
    static func segment(_ id: String) -> String {
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "._-".utf8.contains(byte)
            }
        }
        return isPlain && !id.utf8.allSatisfy { $0 == UInt8(ascii: ".") } ? id : "~" + Base64URL.encode(id.utf8)
    }

    /// The id of a segment; nil for one that is none.
    static func id(_ segment: String) -> String? {
        guard segment.hasPrefix("~") else { return segment }
        guard let bytes = Base64URL.decode(segment.dropFirst()), !bytes.isEmpty, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Where to go on after a sign-in: a page of the console that the request named, else the first one.
    ///
    /// Nothing in it can lead to another host: it begins with our own path, and has no character by which browsers would
    /// take it otherwise.
    package static func next(_ text: String?) -> String {
        guard let text, text.utf8.count <= 512, text == "/console" || text.hasPrefix("/console/"),
            text.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: "/._~%-?=&+".utf8.contains(byte)
                }
            }), !text.contains("//"), !text.contains(".."), !text.hasPrefix("/console/sign-in")
        else { return "/console" }
        return text
    }
}

/// What a form of the console says.
struct ConsoleForm: Sendable {
    let items: QueryItems

    /// - Throws: for a body that is no form.
    init(_ call: Call) throws {
        guard let items = QueryItems(utf8: call.body.readableBytesView), items.pairs.count <= 256 else {
            throw WireError.invalidRequest("Invalid form payload received.", field: nil)
        }
        self.items = items
    }

    /// Empty when it is absent.
    /// - Throws: when it comes twice.
    func value(_ name: String) throws -> String { try items.value(name) ?? "" }

    /// Why it is done, for the audit log; at most 256 characters in one line.
    var reason: String? {
        get throws {
            let text = String(WireError.line(try value("reason")).prefix(256))
            return text.allSatisfy(\.isWhitespace) ? nil : text
        }
    }

    /// As the page had it that the form stands on.
    var version: Int64 {
        get throws {
            guard let version = Int64(try value("version")) else {
                throw WireError.invalidRequest("version must be a number.", field: "version")
            }
            return version
        }
    }
}
