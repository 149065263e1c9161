import StrictJSON

/// `updateMask` of a PATCH: the members that it changes (AIP-134, AIP-161).
///
/// Paths are in camelCase or snake_case; a list is one member.
struct FieldMask: Sendable {
    /// Empty for all members: the request replaces everything, like `*`.
    private let paths: [String]

    /// - Parameter literal: the member inside which names are not converted, because they are the admin's own.
    init(_ text: String?, literal: String? = nil) {
        let paths = (text ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
        self.paths =
            paths == ["*"]
            ? [] : paths.map { path in literal.map { path.hasPrefix($0 + ".") } ?? false ? path : Self.camelCase(path) }
    }

    /// Whether the member at a path, such as `signIn.email.enabled`, is changed; a mask with a parent includes it.
    func contains(_ path: String) -> Bool {
        paths.isEmpty || paths.contains { $0 == path || path.hasPrefix($0 + ".") }
    }

    /// Whether the mask contains the path itself, or a path below it.
    func names(_ path: String) -> Bool {
        paths.contains { $0 == path || $0.hasPrefix(path + ".") }
    }

    /// Refuses an unknown path, because the intended change would otherwise be silently lost.
    func check(_ isMember: (String) -> Bool) throws(WireError) {
        for path in paths where !isMember(path) {
            throw .invalidRequest("The updateMask names an unknown member: \(path.prefix(128))", field: "update_mask")
        }
    }

    /// The member at a path with what the mask contains taken from `new`, and the rest from `old`.
    ///
    /// What `new` lacks is removed, as is an object that lost its last member.
    func merge(_ new: JSONValue?, over old: JSONValue?, at path: String) throws(WireError) -> JSONValue? {
        guard !contains(path) else { return new }
        let prefix = path + "."
        let names = paths.filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count).prefix { $0 != "." } }
        guard !names.isEmpty else { return old }
        guard new?.object != nil || new?.isNull ?? true else {
            throw .invalidRequest("Invalid value at '\(path)' (TYPE_MESSAGE)", field: path)
        }
        var object = old?.object ?? JSONObject()
        for name in names.map({ String($0) }) {
            object[name] = try merge(new?.object?[name], over: object[name], at: prefix + name)
        }
        guard object.members.isEmpty else { return .object(object) }
        return old?.object == nil ? old : nil
    }

    private static func camelCase(_ text: String) -> String {
        var camel = ""
        var raises = false
        for character in text {
            if character == "_" {
                raises = true
            } else {
                camel += raises ? character.uppercased() : String(character)
                raises = false
            }
        }
        return camel
    }
}
