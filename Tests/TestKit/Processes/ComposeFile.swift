import Foundation
import Yams

/// What `docker-compose.yml` would run.
package struct ComposeFile: Sendable {
    package struct Service: Sendable {
        package var command: [String]
        package var environment: [String: String]
        /// `HOST:PORT:PORT`.
        package var ports: [String]
        /// The condition for each service that has to come first.
        package var dependsOn: [String: String]
    }

    package var services: [String: Service] = [:]

    /// - Parameter variables: those of the shell, or of `.env`.
    /// - Throws: ``ComposeProblem`` for a variable that must be set and isn't.
    package init(variables: [String: String]) throws {
        let file = IdentityProgram.repository.appending(path: "docker-compose.yml")
        let document = try YAMLDecoder().decode(Document.self, from: String(contentsOf: file, encoding: .utf8))
        // By name, so that it is always the same one that is missed.
        for (name, service) in document.services.sorted(by: { $0.key < $1.key }) {
            services[name] = Service(
                command: try (service.command ?? []).map { try Self.substitute(variables, in: $0) },
                environment: try (service.environment ?? [:]).mapValues { try Self.substitute(variables, in: $0) },
                ports: try (service.ports ?? []).map { try Self.substitute(variables, in: $0) },
                dependsOn: (service.depends_on ?? [:]).mapValues(\.condition)
            )
        }
    }

    package func service(_ name: String) throws -> Service {
        guard let service = services[name] else { throw ComposeProblem(text: "no service \(name)") }
        return service
    }

    /// `${NAME}`, `${NAME:-default}` and `${NAME:?message}`.
    private static func substitute(_ variables: [String: String], in text: String) throws -> String {
        try text.replacing(/\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/) { match throws -> String in
            let value = variables[String(match.1)] ?? ""
            guard value.isEmpty, let kind = match.2 else { return value }
            guard kind == "-" else { throw ComposeProblem(text: String(match.3 ?? "")) }
            return String(match.3 ?? "")
        }
    }

    private struct Document: Decodable {
        var services: [String: Entry]
    }

    private struct Entry: Decodable {
        var command: [String]?
        var environment: [String: String]?
        var ports: [String]?
        var depends_on: [String: Dependency]?
    }

    private struct Dependency: Decodable {
        var condition: String
    }
}

package struct ComposeProblem: Error, Hashable {
    package var text: String

    package init(text: String) { self.text = text }
}
