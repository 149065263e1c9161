import StrictJSON

/// Reads the members of one object of `definition{}`; members that were not read are an error at the end.
struct DefinitionReader {
    private let object: JSONObject
    private let path: String
    private var asked: Set<String> = []

    init(_ object: JSONObject, path: String) {
        self.object = object
        self.path = path
    }

    func problem(_ name: String, _ text: String) -> InvalidDefinition {
        InvalidDefinition(member: path + "." + name, problem: text)
    }

    func has(_ name: String) -> Bool { object[name] != nil }
    var names: [String] { object.members.map(\.name) }

    /// - Throws: ``InvalidDefinition`` for a member that no call has read.
    func finish() throws(InvalidDefinition) {
        for member in object.members where !asked.contains(member.name) {
            throw problem(String(member.name.prefix(64)), InvalidDefinition.unknownMember)
        }
    }

    private mutating func value(_ name: String) -> JSONValue? {
        asked.insert(name)
        return object[name]
    }

    mutating func read(_ name: String, into target: inout String) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        guard let text = value.string else { throw problem(name, "must be a string") }
        target = text
    }

    /// `null` removes the member.
    mutating func read(_ name: String, into target: inout String?) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        if value == .null { return target = nil }
        guard let text = value.string, !text.isEmpty else { throw problem(name, "must be a string or null") }
        target = text
    }

    mutating func read(_ name: String, into target: inout Bool) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        guard case .bool(let flag) = value else { throw problem(name, "must be true or false") }
        target = flag
    }

    mutating func read(_ name: String, into target: inout Int?) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        if value == .null { return target = nil }
        guard let number = value.wholeNumber, (1...100_000_000).contains(number) else {
            throw problem(name, "must be a positive number of seconds or null")
        }
        target = Int(number)
    }

    mutating func read(_ name: String, into target: inout [String]) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        if let text = value.string { return target = [text] }
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else { throw problem(name, "must be a list of strings") }
        target = texts
    }

    /// Merged key by key; `null` removes a key.
    mutating func read(_ name: String, into target: inout [String: String]) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        guard let members = value.object?.members else { throw problem(name, "must be an object of strings") }
        for member in members {
            if member.value == .null {
                target[member.name] = nil
            } else if let text = member.value.string {
                target[member.name] = text
            } else {
                throw problem(name + "." + member.name, "must be a string or null")
            }
        }
    }

    mutating func read<Choice>(_ name: String, into target: inout Choice) throws(InvalidDefinition)
    where Choice: RawRepresentable, Choice.RawValue == String, Choice: CaseIterable {
        guard let value = value(name) else { return }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw problem(name, "must be one of: \(choices)")
        }
        target = choice
    }

    /// `null` removes the choice.
    mutating func read<Choice>(_ name: String, into target: inout Choice?) throws(InvalidDefinition)
    where Choice: RawRepresentable, Choice.RawValue == String, Choice: CaseIterable {
        guard let value = value(name) else { return }
        if value == .null { return target = nil }
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw problem(name, "must be null or one of: \(choices)")
        }
        target = choice
    }

    mutating func read<Choice>(_ name: String, into target: inout Set<Choice>) throws(InvalidDefinition)
    where Choice: RawRepresentable, Choice.RawValue == String, Choice: CaseIterable {
        var texts: [String]?
        try readOptional(name, into: &texts)
        guard let texts else { return }
        var choices: Set<Choice> = []
        for text in texts {
            guard let choice = Choice(rawValue: text) else {
                let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw problem(name, "may contain: \(known)")
            }
            choices.insert(choice)
        }
        target = choices
    }

    private mutating func readOptional(_ name: String, into target: inout [String]?) throws(InvalidDefinition) {
        guard has(name) else { return asked.formUnion([name]) }
        var texts: [String] = []
        try read(name, into: &texts)
        target = texts
    }

    /// Reads a nested object.
    mutating func read(
        _ name: String,
        _ body: (inout DefinitionReader) throws(InvalidDefinition) -> Void
    ) throws(InvalidDefinition) {
        guard let value = value(name) else { return }
        guard let object = value.object else { throw problem(name, "must be an object") }
        var reader = DefinitionReader(object, path: path + "." + name)
        try body(&reader)
        try reader.finish()
    }

    /// Reads a list of objects; nil if it is absent.
    mutating func readList(_ name: String) throws(InvalidDefinition) -> [DefinitionReader]? {
        guard let value = value(name) else { return nil }
        let objects = value.array?.compactMap(\.object)
        guard let objects, objects.count == value.array?.count else { throw problem(name, "must be a list of objects") }
        return objects.enumerated().map { DefinitionReader($0.element, path: "\(path).\(name)[\($0.offset)]") }
    }

    /// A member that can have different types.
    mutating func raw(_ name: String) -> JSONValue? { value(name) }
}
