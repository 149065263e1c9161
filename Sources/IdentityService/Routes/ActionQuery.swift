import Accounts
import HTTPTypes
import Storage

/// What the link of a mail says, and after it the form of its page, by the same names.
struct ActionQuery {
    var type: OOBCodeType
    var code: String
    var apiKey: String
    /// Nil for the project itself.
    var tenant: String?
    var continueURL: String?
    /// Of the page and of what it leads on to; nil when it looks like no tag.
    var language: String?

    /// - Throws: when one of the names comes twice, or there is no such mode, or no key.
    init(_ items: QueryItems) throws(WireError) {
        func value(_ name: String) throws(WireError) -> String? {
            try items.value(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let type = try value("mode").flatMap({ OOBCodeType(mode: $0) }) else {
            throw .invalidRequest("Invalid mode.", field: "mode")
        }
        self.type = type
        code = try value("oobCode") ?? ""
        continueURL = try value("continueUrl")
        language = try value("lang").flatMap { Call.isLanguage($0) ? $0 : nil }
        tenant = try value("tenantId")
        guard let key = try value("apiKey") else { throw .missingAPIKey(.identityToolkit) }
        apiKey = key
    }
}
