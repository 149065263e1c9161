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

    /// The paths below a member that the mask names, each with its value in an object: nil for one that it lacks.
    func members(
        of name: String,
        in object: JSONValue?
    ) throws(WireError) -> [(path: [String], value: JSONValue?)] {
        var members: [(path: [String], value: JSONValue?)] = []
        for path in paths where path.hasPrefix(name + ".") {
            let names = path.dropFirst(name.count + 1).split(separator: ".").map { String($0) }
            var (value, place) = (object, name)
            for next in names {
                guard value?.object != nil || value?.isNull ?? true else {
                    throw .invalidRequest("Invalid value at '\(place)' (TYPE_MESSAGE)", field: place)
                }
                (value, place) = (value?.object?[next], place + "." + next)
            }
            members.append((names, value))
        }
        return members
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
