import StrictJSON
package import Text

extension FormFields {
    /// Nil if the name is absent.
    ///
    /// - Throws: if it is repeated, because two readers could use different values.
    package func value(_ name: String) throws(WireError) -> String? {
        var found: String?
        for pair in pairs where pair.name == name {
            guard found == nil else { throw Self.duplicate(name, field: name) }
            found = pair.value
        }
        return found
    }

    /// A form as the equivalent JSON object.
    ///
    /// - Throws: if a name is repeated.
    package func object() throws(WireError) -> WireObject {
        var members: [JSONObject.Member] = []
        for (name, value) in pairs {
            guard !members.contains(where: { $0.name == name }), members.count < 64 else {
                throw Self.duplicate(name, field: nil)
            }
            members.append(JSONObject.Member(name: name, value: .string(value)))
        }
        return WireObject(members, isForm: true)
    }

    private static func duplicate(_ name: String, field: String?) -> WireError {
        .invalidRequest("Invalid request. Duplicate parameter \"\(name)\".", field: field)
    }
}
