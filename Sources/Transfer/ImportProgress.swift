import Foundation

/// The position of an import, stored in a file next to the imported one: after a crash, the import continues there.
///
/// An import that starts over instead has the same result, but takes longer.
package struct ImportProgress: Sendable {
    package let file: String

    package struct State: Sendable, Hashable, Codable {
        /// Of the imported file: size, and time of its last change in seconds since 1970.
        package var size: UInt64
        package var changed: Double
        package var project: String
        package var tenant: String
        package var counts: ImportUsers.Counts
        /// Where the next row can start.
        package var end: UInt64
    }

    package init(of users: String) { file = users + ".progress" }

    /// The state at the start of an import.
    package static func start(_ users: String, project: String, tenant: String) throws(UserFileError) -> State {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: users),
            let size = (attributes[.size] as? NSNumber)?.uint64Value,
            let changed = attributes[.modificationDate] as? Date
        else { throw UserFileError(file: users, reason: "cannot be read") }
        return State(
            size: size,
            changed: changed.timeIntervalSince1970.rounded(),
            project: project,
            tenant: tenant,
            counts: ImportUsers.Counts(),
            end: 0
        )
    }

    /// - Returns: nil if there is none.
    /// - Throws: ``UserFileError`` if it belongs to another file, or to an import into another project.
    package func read(for start: State) throws(UserFileError) -> State? {
        guard let data = FileManager.default.contents(atPath: file) else { return nil }
        guard let state = try? JSONDecoder().decode(State.self, from: data), state.end <= start.size else {
            throw UserFileError(file: file, reason: "is not readable: delete it to start over")
        }
        guard state.size == start.size, state.changed == start.changed, state.project == start.project,
            state.tenant == start.tenant
        else {
            throw UserFileError(
                file: file,
                reason:
                    "belongs to an import of another file, or into another project or tenant: delete it to start over"
            )
        }
        return state
    }

    package func write(_ state: State) throws {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try encoder.encode(state).write(to: URL(filePath: file), options: .atomic)
        } catch {
            throw UserFileError(file: file, reason: "cannot be written: \(error.localizedDescription)")
        }
    }

    package func remove() { try? FileManager.default.removeItem(atPath: file) }
}
