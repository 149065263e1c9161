/// The members of a JSON object, in order.
package struct JSONObject: Sendable, Hashable {
    package private(set) var members: [Member]

    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Compares bytes: texts that Unicode treats as equivalent are different names.
        package func isNamed(_ name: String) -> Bool {
            self.name.utf8.count == name.utf8.count && self.name.utf8.elementsEqual(name.utf8)
        }
    }

    /// - Parameter members: without repeated names.
    package init(_ members: [Member] = []) { self.members = members }

    /// Setting nil removes the member.
    package subscript(name: String) -> JSONValue? {
        get { members.first { $0.isNamed(name) }?.value }
        set {
            let index = members.firstIndex { $0.isNamed(name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The member, unless it is null.
    package subscript(stated name: String) -> JSONValue? { self[name].flatMap { $0.isNull ? nil : $0 } }

    /// Sets the value at a path of member names, `data.id`, and adds the objects that it leads through.
    package mutating func set(_ value: JSONValue, at path: String) {
        guard let dot = path.firstIndex(of: ".") else { return self[path] = value }
        let name = String(path[..<dot])
        var inner = self[name]?.object ?? JSONObject()
        inner.set(value, at: String(path[path.index(after: dot)...]))
        self[name] = .object(inner)
    }
}
