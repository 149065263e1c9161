package import StrictJSON
import Yams

import struct Foundation.URL

/// The description of the API, read as data, to hold the service against it.
package struct OpenAPIDocument: Sendable {
    package struct Operation: Sendable, Hashable, CustomStringConvertible {
        /// In capitals.
        package var method: String
        /// With its captures: `/v1/projects/{project}/accounts:lookup`.
        package var path: String

        package init(method: String, path: String) {
            self.method = method
            self.path = path
        }

        package var description: String { "\(method) \(path)" }
    }

    let root: JSONValue
    package let operations: Set<Operation>
    /// Every operation with the segments of each path that it answers to, by method and number of segments.
    private let paths: [Shape: [(operation: Operation, segments: [Substring])]]
    /// What references name, and what the document says of each operation: every answer of every test is looked up.
    private let components: [String: JSONValue]
    private let descriptions: [Operation: JSONValue]

    private struct Shape: Hashable {
        var method: String
        var segments: Int
    }

    /// - Parameter text: YAML.
    package init(_ text: String) throws {
        guard let node = try Yams.compose(yaml: text) else { throw OpenAPIError.empty }
        let root = try JSONValue(yaml: node)
        self.root = root
        var paths: [(operation: Operation, segments: [Substring])] = []
        var descriptions: [Operation: JSONValue] = [:]
        for path in root["paths"]?.members ?? [] {
            for member in path.value.members where Self.methods.contains(member.name) {
                let operation = Operation(method: member.name.uppercased(), path: path.name)
                var templates = Self.prefixes(of: path.value, in: root).map { ($0 == "/" ? "" : $0) + path.name }
                let others = member.value["x-other-paths"]?.elements.compactMap(\.text) ?? []
                for legacy in [member.value["x-legacy-path"]?.text].compactMap(\.self) + others {
                    templates += ["", "/www.googleapis.com", "/accounts.google.com"].map { $0 + legacy }
                }
                paths += templates.map { (operation, Self.segments($0)) }
                descriptions[operation] = member.value
            }
        }
        self.paths = Dictionary(grouping: paths) { Shape(method: $0.operation.method, segments: $0.segments.count) }
        self.descriptions = descriptions
        operations = Set(paths.map(\.operation))
        components = Dictionary(
            (root["components"]?.members ?? []).flatMap { kind in
                kind.value.members.map { ("#/components/\(kind.name)/\($0.name)", $0.value) }
            }
        ) { first, _ in first }
    }

    /// `openapi.yaml` of this repository.
    package static func ofRepository() throws -> OpenAPIDocument { try repository.get() }

    /// Read once: every test of the service asks for it.
    private static let repository = Result {
        let testKit = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let repository = testKit.deletingLastPathComponent().deletingLastPathComponent()
        return try OpenAPIDocument(String(contentsOf: repository.appending(path: "openapi.yaml"), encoding: .utf8))
    }

    /// What the document says of an operation; nil for one that it does not have.
    package func description(of operation: Operation) -> JSONValue? {
        descriptions[operation]
    }

    /// What a reference names; nil for one that leads nowhere.
    func target(of reference: String) -> JSONValue? {
        if let component = components[reference] { return component }
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/")
            .reduce(root as JSONValue?) { value, name in value?[String(name)] }
    }

    /// The members that an operation reads of a JSON body.
    package func requestMembers(of operation: Operation) -> [String] {
        let body = description(of: operation)?["requestBody"].map(resolve)
        return body?["content"]?["application/json"]?["schema"].map(resolve)?["properties"]?.members.map(\.name) ?? []
    }

    /// The paths of a schema's members, of objects and of what they contain; a map, list or value ends its path.
    package func paths(ofComponent name: String) -> [String] {
        func paths(_ schema: JSONValue) -> [String] {
            resolve(schema)["properties"]?.members.flatMap { member in
                [member.name] + paths(member.value).map { "\(member.name).\($0)" }
            } ?? []
        }
        return components["#/components/schemas/\(name)"].map(paths) ?? []
    }

    /// The names of a component's members.
    package func members(ofComponent name: String) -> Set<String> {
        Set((components["#/components/schemas/\(name)"]?["properties"]?.members ?? []).map(\.name))
    }

    /// The path prefixes under which a path is served.
    package func prefixes(of path: String) -> [String] {
        root["paths"]?[path].map { Self.prefixes(of: $0, in: root) } ?? []
    }

    private static func prefixes(of path: JSONValue, in root: JSONValue) -> [String] {
        (path["servers"] ?? root["servers"])?.elements.compactMap { $0["url"]?.text } ?? []
    }

    /// The operation that a concrete path calls, behind a prefix or not, in a tenant or not.
    package func operation(_ method: String, _ path: String) -> Operation? {
        let segments = Self.segments(String(path.prefix { $0 != "?" }).replacing("%3A", with: ":"))
        func operation(_ segments: [Substring]) -> Operation? {
            paths[Shape(method: method, segments: segments.count)]?
                .first { Self.matches(segments, $0.segments) }?.operation
        }
        if let found = operation(segments) { return found }
        guard let place = segments.firstIndex(of: "tenants"), place + 2 < segments.count else { return nil }
        return operation(Array(segments[..<place] + segments[(place + 2)...]))
    }

    /// What is wrong with an answer, as `path: problem`; empty when it is as described.
    package func check(_ operation: Operation, status: Int, contentType: String?, body: String) -> [String] {
        guard let responses = description(of: operation)?["responses"] else { return ["\(operation) is not described"] }
        guard let response = responses[String(status)] ?? responses["default"] else {
            return ["status \(status) is not described"]
        }
        guard let content = resolve(response)["content"] else {
            return body.isEmpty ? [] : ["a body is not described"]
        }
        let type = String((contentType ?? "").prefix { $0 != ";" })
        guard let schema = content[type]?["schema"] else { return ["content type \"\(type)\" is not described"] }
        guard type == "application/json" else { return [] }
        guard let value = try? JSONValue(parsing: body) else { return ["the body is no JSON"] }
        return problems(of: value, against: schema, at: "$")
    }

    /// Checks an answer to a concrete path.
    ///
    /// What the document does not have at all (unknown paths, pages, utilities of
    /// `identity dev`) passes: ``operations`` is held against the routes elsewhere.
    ///
    /// - Throws: ``UndescribedAnswer``.
    package func require(_ method: String, _ path: String, status: Int, contentType: String?, body: String) throws {
        guard let operation = operation(method, path) else { return }
        let problems = check(operation, status: status, contentType: contentType, body: body)
        guard problems.isEmpty else {
            throw UndescribedAnswer(operation: operation, problems: problems, answer: "\(status) \(body)")
        }
    }

    /// What is wrong with a value of a component schema.
    package func check(component name: String, json: String) -> [String] {
        guard let value = try? JSONValue(parsing: json) else { return ["no JSON"] }
        guard let schema = root["components"]?["schemas"]?[name] else { return ["\(name) is not described"] }
        return problems(of: value, against: schema, at: "$")
    }

    private static let methods = ["get", "post", "put", "patch", "delete"]

    private static func segments(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func matches(_ path: [Substring], _ template: [Substring]) -> Bool {
        path.count == template.count
            && zip(path, template).allSatisfy { part, pattern in
                pattern.hasPrefix("{") ? !part.isEmpty && !part.contains(":") : part == pattern
            }
    }
}

/// An answer that `openapi.yaml` does not describe.
package struct UndescribedAnswer: Error, CustomStringConvertible {
    package var operation: OpenAPIDocument.Operation
    package var problems: [String]
    package var answer: String

    package var description: String {
        "\(operation) answered what openapi.yaml does not describe: \(problems.joined(separator: "; ")) in \(answer)"
    }
}

package enum OpenAPIError: Error {
    case empty
    case notUnderstood(String)
}
