import Accounts
import HTTPTypes
import Storage
import Text

/// The parameters of a link in an email, and of its page's form.
struct ActionQuery {
    var type: OOBCodeType
    var code: String
    var apiKey: String
    /// Nil for the project itself.
    var tenant: String?
    var continueURL: String?
    /// The language of the page and of what follows; nil if it does not look like a tag.
    var language: String?

    /// - Throws: if a name is repeated, the mode is unknown, or the key is missing.
    init(_ items: FormFields) throws(WireError) {
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
