/// `updateMask` of a PATCH: which members it changes.
///
/// Paths come in camelCase or snake_case.
struct FieldMask: Sendable {
    /// Empty for all members: the request replaces the whole.
    private let paths: [String]

    init(_ text: String?) {
        paths = (text ?? "").split(separator: ",").map { Self.camelCase($0.filter { $0 != " " }) }
    }

    /// Whether the member at a path, such as `signIn.email.enabled`, is to be changed; naming a parent names it too.
    func contains(_ path: String) -> Bool {
        paths.isEmpty || paths.contains { $0 == path || path.hasPrefix($0 + ".") }
    }

    /// Whether the mask names the path, or something in it, itself.
    func names(_ path: String) -> Bool {
        paths.contains { $0 == path || $0.hasPrefix(path + ".") }
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
