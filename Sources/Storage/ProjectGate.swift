import Postgres
package import Projects
import Synchronization

/// Lets one request of a project at a time pass, and few of all projects, and makes the others wait without a database
/// connection.
///
/// It is for work that takes long in the database or waits there for a lock: otherwise as many such requests as there are
/// connections would leave none for sign-ins (T-E11). Projects take turns. Each node has its own gates.
package final class ProjectGate: Sendable {
    /// How many of all projects are inside, of the eight connections that a node has unless it is configured otherwise.
    private let width: Int
    /// How many of one project wait.
    private let queueLimit: Int

    private struct Line {
        let project: ProjectID
        /// Never empty.
        var waiting: [Waiter<Void>]
    }

    private struct State {
        var inside: Set<ProjectID> = []
        /// The first is next, unless its project is inside.
        var lines: [Line] = []
    }

    private let state = Mutex(State())

    package init(width: Int, queueLimit: Int) {
        self.width = width
        self.queueLimit = queueLimit
    }

    /// - Throws: ``PostgresError/Code/overloaded`` if too many of the project wait already; `CancellationError`.
    package func pass<Result>(_ project: ProjectID, _ body: () async throws -> Result) async throws -> Result {
        try await enter(project)
        defer { leave(project) }
        return try await body()
    }

    private func enter(_ project: ProjectID) async throws {
        guard state.withLock({ !enter(project, &$0) }) else { return }
        let waiter = Waiter<Void>()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard waiter.attach(continuation) else { return }
                let answer: Result<Void, any Error>? = state.withLock { state in
                    if enter(project, &state) { return .success(()) }
                    return wait(waiter, project, &state) ? nil : .failure(PostgresError(.overloaded))
                }
                guard let answer else { return }
                // Cancelled in the meantime: nobody takes the place.
                if !waiter.resume(with: answer), case .success = answer { leave(project) }
            }
        } onCancel: {
            waiter.resume(with: .failure(CancellationError()))
        }
    }

    /// Takes a place if one is free; then nobody waits who may have it.
    private func enter(_ project: ProjectID, _ state: inout State) -> Bool {
        state.inside.count < width && state.inside.insert(project).inserted
    }

    private func wait(_ waiter: Waiter<Void>, _ project: ProjectID, _ state: inout State) -> Bool {
        guard let index = state.lines.firstIndex(where: { $0.project == project }) else {
            state.lines.append(Line(project: project, waiting: [waiter]))
            return true
        }
        let waiting = state.lines[index].waiting.filter { !$0.isOver }
        guard waiting.count < queueLimit else { return false }
        state.lines[index].waiting = waiting + [waiter]
        return true
    }

    /// Passes the place on to the next project.
    private func leave(_ project: ProjectID) {
        var leaving = project
        while true {
            let next: (project: ProjectID, waiter: Waiter<Void>)? = state.withLock { state in
                state.inside.remove(leaving)
                let index = state.lines.firstIndex { !state.inside.contains($0.project) }
                guard let index else { return nil }
                var line = state.lines.remove(at: index)
                let waiter = line.waiting.removeFirst()
                if !line.waiting.isEmpty { state.lines.append(line) }
                state.inside.insert(line.project)
                return (line.project, waiter)
            }
            // One that has been cancelled leaves the place to the next.
            guard let next, !next.waiter.resume(with: .success(())) else { return }
            leaving = next.project
        }
    }
}
