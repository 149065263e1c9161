import Domain
import TestKit

extension OperationCase {
    /// The operations with `x-cost` in openapi.yaml, called as their examples do, about Ada.
    static let examples: [OperationCase] = documented.map { example in
        OperationCase(example.name) { world in
            var values: [String: JSON] = ["localId": "ada", "providerId": .string(LinkingWorld.acmeID.rawValue)]
            if example.credentials == ["bearer"] { try await people(world) }
            if example.body?["idToken"] != nil {
                values["idToken"] = JSON(try await world.acme(world.person()).idToken)
            }
            return { [values] in try await world.service.call(example, values) }
        }
    }

    static let documented = ((try? OpenAPIDocument.ofRepository())?.examples ?? []).filter { $0.cost != nil }
}
