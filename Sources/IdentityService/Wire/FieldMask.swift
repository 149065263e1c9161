import Administration
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

    /// The changes of the settings that the mask names, or those of all settings without a mask.
    ///
    /// - Parameters:
    ///   - parent: the start of the settings' paths that the mask leaves out, such as `passkeyConfig.`.
    ///   - others: members of the resource that are not settings.
    /// - Throws: for a path that is neither a member, nor above or below one.
    func changes(
        of settings: [Setting],
        in config: WireObject,
        below parent: String = "",
        others: [String] = []
    ) throws -> [SettingChange] {
        try check { path in
            others.contains(path)
                || settings.contains { setting in
                    let own = String(setting.path.dropFirst(parent.count))
                    return ([own] + setting.inner.map { own + "." + $0 })
                        .contains { $0 == path || $0.hasPrefix(path + ".") }
                }
        }
        return try settings.compactMap { setting in
            let own = String(setting.path.dropFirst(parent.count))
            if contains(own) { return try setting.change(in: config) }
            let named = setting.inner.filter { contains(own + "." + $0) }
            return named.isEmpty ? nil : try setting.change(in: config, to: named)
        }
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

extension AdminCall {
    /// The request's mask; the parameter has two spellings, as in Google's APIs.
    ///
    /// - Parameter literal: as in ``FieldMask``.
    func updateMask(literal: String? = nil) throws -> FieldMask {
        FieldMask(try updateMaskText(), literal: literal)
    }

    func updateMaskText() throws -> String? {
        let (camel, snake) = (try call.query.value("updateMask"), try call.query.value("update_mask"))
        guard camel == nil || snake == nil else {
            throw WireError.invalidRequest("updateMask and update_mask are one parameter", field: "update_mask")
        }
        return camel ?? snake
    }
}
