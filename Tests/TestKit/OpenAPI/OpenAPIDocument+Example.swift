import Domain
import Projects
import StrictJSON

extension OpenAPIDocument {
    /// An operation as the document's example calls it.
    package struct Example: Sendable {
        package var operation: Operation
        /// `operationId`.
        package var name: String
        /// The names of the accepted credentials.
        package var credentials: Set<String>
        /// The JSON body; nil without one.
        package var body: JSON?
        /// `x-cost`: BEGIN and COMMIT count as round trips only.
        package var cost: (roundTrips: Int, statements: Int)?
    }

    /// The example of each operation, by name.
    package var examples: [Example] {
        operations.compactMap { operation -> Example? in
            guard let description = description(of: operation), let name = description["operationId"]?.text else {
                return nil
            }
            let body = description["requestBody"].map(resolve)?["content"]?["application/json"]?["example"]
            var cost: (Int, Int)?
            if let given = description["x-cost"], let trips = given["roundTrips"]?.number,
                let statements = given["statements"]?.number
            {
                cost = (trips, statements)
            }
            return Example(
                operation: operation,
                name: name,
                credentials: Set((description["security"]?.elements ?? []).flatMap(\.members).map(\.name)),
                body: body.map { JSON($0) },
                cost: cost
            )
        }
        .sorted { $0.name < $1.name }
    }
}

extension TestService {
    /// Calls an operation as its example does.
    ///
    /// - Parameter values: replace those of the example that have the same names.
    package func call(_ example: OpenAPIDocument.Example, _ values: [String: JSON]) async throws -> Reply {
        var path = example.operation.path.replacing("{project}", with: project.id.rawValue)
        var headers = [("Content-Type", "application/json")]
        if example.credentials.contains("apiKey") {
            path += "?key=\(apiKey)"
        } else if example.credentials.contains("bearer") {
            headers.append(("Authorization", "Bearer \(adminToken)"))
        }
        let body = example.body.map { Array($0.replacing(values).text.utf8) }
        return try await send(example.operation.method, path, headers: headers, body: body)
    }
}

extension JSON {
    /// With other values for some of its members.
    package func replacing(_ values: [String: JSON]) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.merging(values.filter { members[$0.key] != nil }) { $1 })
    }
}
