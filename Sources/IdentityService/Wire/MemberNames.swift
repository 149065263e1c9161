import StrictJSON

/// The names of the members that a resource may have in a request, so that a misspelt one is refused and not lost.
indirect enum MemberNames: Sendable, ExpressibleByArrayLiteral {
    /// A value, a list or map of values, or what is checked elsewhere.
    case any
    /// A message, or a list of them.
    case object([String: MemberNames])
    /// A map of messages, whose names are the caller's own.
    case map(MemberNames)

    init(arrayLiteral names: String...) { self.init(names) }

    /// Of paths such as `signIn.email.enabled`, of which none is above another, each with what its value may contain.
    init(_ paths: [(path: String, members: MemberNames)]) {
        var names: [String: [(path: String, members: MemberNames)]] = [:]
        for (path, members) in paths {
            let parts = path.split(separator: ".", maxSplits: 1)
            names[String(parts[0]), default: []].append((parts.count > 1 ? String(parts[1]) : "", members))
        }
        self = .object(
            names.mapValues { paths in
                paths[0].path.isEmpty ? paths[0].members : MemberNames(paths)
            }
        )
    }

    init(_ names: [String]) { self = .object(Dictionary(uniqueKeysWithValues: names.map { ($0, .any) })) }

    /// - Throws: for a name that is not known, in Google's words.
    func check(_ object: WireObject) throws(WireError) { try check(object.members, "") }

    private func check(_ members: [JSONObject.Member], _ place: String) throws(WireError) {
        if case .map(let inner) = self {
            for member in members {
                if let object = member.value.object {
                    try inner.check(object.members, place.isEmpty ? member.name : "\(place).\(member.name)")
                }
            }
        }
        guard case .object(let names) = self else { return }
        for member in members {
            let name = member.name
            // Other texts that Unicode treats as equivalent are not read.
            guard name.utf8.allSatisfy({ $0 < 0x80 }), let inner = names[WireObject.name(sent: name)]
            else {
                let at = place.isEmpty ? "" : " at '\(place)'"
                throw .invalidRequest(
                    "Invalid JSON payload received. Unknown name \"\(name.prefix(128))\"\(at): Cannot find field.",
                    field: place.isEmpty ? nil : place
                )
            }
            let path = place.isEmpty ? name : place + "." + name
            switch member.value {
            case .object(let object): try inner.check(object.members, path)
            case .array(let values):
                for (index, value) in values.enumerated() {
                    if let object = value.object { try inner.check(object.members, "\(path)[\(index)]") }
                }
            default: break
            }
        }
    }
}
