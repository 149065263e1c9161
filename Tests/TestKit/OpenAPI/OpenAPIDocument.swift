package import IdentityService
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

    let root: WireValue

    /// - Parameter text: YAML.
    package init(_ text: String) throws {
        guard let node = try Yams.compose(yaml: text) else { throw OpenAPIError.empty }
        root = try WireValue(yaml: node)
    }

    /// `openapi.yaml` of this repository.
    package static func ofRepository() throws -> OpenAPIDocument { try repository.get() }

    /// Read once: every test of the service asks for it.
    private static let repository = Result {
        let testKit = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let repository = testKit.deletingLastPathComponent().deletingLastPathComponent()
        return try OpenAPIDocument(String(contentsOf: repository.appending(path: "openapi.yaml"), encoding: .utf8))
    }

    package var operations: Set<Operation> {
        var operations: Set<Operation> = []
        for path in root["paths"]?.members ?? [] {
            for member in path.value.members where Self.methods.contains(member.name) {
                operations.insert(Operation(method: member.name.uppercased(), path: path.name))
            }
        }
        return operations
    }

    /// What the document says of an operation; nil for one that it does not have.
    package func description(of operation: Operation) -> WireValue? {
        root["paths"]?[operation.path]?[operation.method.lowercased()]
    }

    /// The path prefixes under which a path is served.
    package func prefixes(of path: String) -> [String] {
        (root["paths"]?[path]?["servers"] ?? root["servers"])?.elements.compactMap { $0["url"]?.text } ?? []
    }

    /// The operation that a concrete path calls, behind a prefix or not.
    package func operation(_ method: String, _ path: String) -> Operation? {
        let path = String(path.prefix { $0 != "?" }).replacing("%3A", with: ":")
        return operations.first { operation in
            guard operation.method == method else { return false }
            let legacy = description(of: operation)?["x-legacy-path"]?.text
            if let legacy, path == legacy || path == "/www.googleapis.com" + legacy { return true }
            return prefixes(of: operation.path).contains { prefix in
                Self.matches(path, (prefix == "/" ? "" : prefix) + operation.path)
            }
        }
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
        guard let value = try? JSONReader.read(body) else { return ["the body is no JSON"] }
        return problems(of: value, against: schema, at: "$")
    }

    /// What is wrong with a value of a component schema.
    package func check(component name: String, json: String) -> [String] {
        guard let value = try? JSONReader.read(json) else { return ["no JSON"] }
        guard let schema = root["components"]?["schemas"]?[name] else { return ["\(name) is not described"] }
        return problems(of: value, against: schema, at: "$")
    }

    private static let methods = ["get", "post", "put", "patch", "delete"]

    private static func matches(_ path: String, _ template: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let pattern = template.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == pattern.count
            && zip(parts, pattern).allSatisfy { part, pattern in
                pattern.hasPrefix("{") ? !part.isEmpty && !part.contains(":") : part == pattern
            }
    }
}

package enum OpenAPIError: Error {
    case empty
    case notUnderstood(String)
}
