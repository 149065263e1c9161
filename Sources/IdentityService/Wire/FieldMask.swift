import Administration
import StrictJSON

/// The members that a request changes: `updateMask` of a PATCH, or what its body holds (AIP-134, AIP-161).
///
/// Paths are in camelCase or snake_case; a list or map is one member.
struct FieldMask: Sendable {
    /// Nil for all members.
    private let paths: [String]?

    /// Of a new resource, whose absent members get their defaults.
    static let all = FieldMask(paths: nil)

    private init(paths: [String]?) { self.paths = paths }

    /// - Parameter literal: the member inside which names are not converted, because they are the admin's own.
    init(_ text: String, literal: String? = nil) throws(WireError) {
        let paths = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
        guard !paths.contains("*"), !paths.contains("") else {
            throw .invalidRequest("The updateMask must name members: * is not supported.", field: "update_mask")
        }
        self.paths = paths.map { path in
            if Self.isBelow(path, literal) { return path }
            return path.split(separator: ".", omittingEmptySubsequences: false)
                .map { WireObject.name(sent: String($0)) }.joined(separator: ".")
        }
    }

    /// The members that stand in a body: each value, also `false`, `0`, `""` and an empty list or map; null and an empty
    /// message name nothing.
    ///
    /// - Parameter kind: whether a member is one, whatever it contains.
    init(of body: WireObject, literal: String? = nil, _ kind: (String) -> Kind) {
        var paths: [String] = []
        func add(_ members: [JSONObject.Member], _ parent: String) {
            for member in members {
                let name = Self.isBelow(parent + ".", literal) ? member.name : WireObject.name(sent: member.name)
                let path = parent.isEmpty ? name : "\(parent).\(name)"
                switch (member.value, kind(path)) {
                case (.null, _): break
                case (.object(let object), .message): add(object.members, path)
                case (.object, .whole): if member.value.hasLeaf { paths.append(path) }
                default: paths.append(path)
                }
            }
        }
        add(body.members, "")
        self.paths = paths
    }

    enum Kind {
        /// An object's members are named, and not it.
        case message
        /// A message that is one member.
        case whole
        /// A value, list or map; an object in place of one is a mistake that its reader names.
        case value
    }

    private static func isBelow(_ path: String, _ parent: String?) -> Bool {
        parent.map { path.hasPrefix($0 + ".") } ?? false
    }

    /// Whether the member at a path, such as `signIn.email.enabled`, is changed; a mask with a parent includes it.
    func contains(_ path: String) -> Bool {
        paths?.contains { $0 == path || path.hasPrefix($0 + ".") } ?? true
    }

    /// Whether the mask contains the path itself, or a path below it.
    func names(_ path: String) -> Bool {
        paths?.contains { $0 == path || $0.hasPrefix(path + ".") } ?? false
    }

    /// Refuses an unknown path, because the intended change would otherwise be silently lost.
    func check(_ isMember: (String) -> Bool) throws(WireError) {
        for path in paths ?? [] where !isMember(path) {
            throw .invalidRequest("The updateMask names an unknown member: \(path.prefix(128))", field: "update_mask")
        }
    }

    /// The paths below a member that the mask names, each with its value in an object: nil for one that it lacks.
    func members(
        of name: String,
        in object: JSONValue?
    ) throws(WireError) -> [(path: [String], value: JSONValue?)] {
        var members: [(path: [String], value: JSONValue?)] = []
        for path in paths ?? [] where path.hasPrefix(name + ".") {
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

    /// The changes of the settings that the mask names.
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

    static func camelCase(_ text: String) -> String {
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
    /// The request's mask, or without one the members that its body holds.
    ///
    /// - Parameters:
    ///   - literal: as in ``FieldMask``.
    ///   - kind: as in ``FieldMask``.
    func updateMask(literal: String? = nil, of body: WireObject, _ kind: (String) -> FieldMask.Kind) throws -> FieldMask
    {
        guard let text = try call.query.value("updateMask"), !text.isEmpty else {
            return FieldMask(of: body, literal: literal, kind)
        }
        return try FieldMask(text, literal: literal)
    }
}

extension JSONValue {
    /// Whether it is a value, or a message that contains one.
    var hasLeaf: Bool {
        switch self {
        case .null: false
        case .object(let object): object.members.contains { $0.value.hasLeaf }
        default: true
        }
    }
}
