package import StrictJSON

extension JSONObject {
    /// Copies the members of another object, and removes some.
    package mutating func change(set: JSONObject = [:], remove: Set<String> = []) {
        for name in remove { self[name] = nil }
        for member in set.members { self[member.name] = member.value }
    }

    package func changed(set: JSONObject = [:], remove: Set<String> = []) -> JSONObject {
        var changed = self
        changed.change(set: set, remove: remove)
        return changed
    }
}

extension JSONValue {
    /// Copied into JSON as it is, valid or not: a number is written as it stands.
    package static func raw(_ text: String) -> JSONValue { .number(text) }
}

extension TestUser {
    /// The texts of a profile that the user has, by the names of its members.
    func members(_ names: KeyValuePairs<String, KeyPath<TestUser, String?>>) -> JSONObject {
        JSONObject(names.compactMap { name, text in self[keyPath: text].map { (name, JSONValue.string($0)) } })
    }
}
