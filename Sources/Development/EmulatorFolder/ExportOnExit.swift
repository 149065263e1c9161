package import Accounts
package import Projects
import ServiceLifecycle
package import Storage

/// Writes the emulator's folder when `identity dev` is told to stop, while the database still runs.
package struct ExportOnExit: Service {
    private let folder: EmulatorFolder
    private let project: ProjectID
    private let stores: Stores
    private let accounts: AccountsService
    private let say: @Sendable (String) -> Void

    package init(
        to folder: EmulatorFolder,
        _ project: ProjectID,
        _ stores: Stores,
        _ accounts: AccountsService,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.project = project
        self.stores = stores
        self.accounts = accounts
        self.say = say
    }

    package func run() async throws {
        // A failed start cancels this task instead, and nothing is written.
        try await gracefulShutdown()
        guard let project = stores.configuration.snapshot.project(project) else { return }
        let count = try await folder.export(project, stores, accounts)
        say("exported \(count) account\(count == 1 ? "" : "s") to \(folder.path)")
    }
}
