package import Accounts
import Domain
import IdentityService
import Passwords
package import Projects
import Secrets

/// Imports the users of a file, a thousand at a time, each completely or not at all, independently of the others.
///
/// A repeated import finds the earlier accounts unchanged, so an interrupted import can simply be repeated.
package struct ImportUsers: Sendable {
    private let importAccounts: ImportAccounts
    private let project: Project
    private let options: Options

    package struct Options: Sendable, Hashable {
        /// The hash algorithm; without it, rows with a hash are refused.
        package var hashing: PasswordHashing?
        /// Replaces an existing account with the same ID, which otherwise stays unchanged.
        package var replaces = false
        /// Determines the result and writes nothing.
        package var dryRun = false

        package init() {}
    }

    package struct Counts: Sendable, Hashable, Codable {
        package var rows = 0
        package var imported = 0
        /// Accounts whose IDs exist, which were not changed.
        package var known = 0
        package var refused = 0

        package init() {}
    }

    /// A refused row.
    package struct Refusal: Sendable, Hashable {
        package var row: Int
        package var localID: String?
        package var reason: String
    }

    /// What an imported account had that was left out.
    package struct Warning: Sendable, Hashable {
        package var row: Int
        package var localID: String?
        package var text: String
    }

    private static let batch = 1000

    package init(_ importAccounts: ImportAccounts, into project: Project, _ options: Options) {
        self.importAccounts = importAccounts
        self.project = project
        self.options = options
    }

    /// - Parameters:
    ///   - counts: the results of an earlier run for the rows before the reader's first.
    ///   - refused: called for each refused row, in order.
    ///   - warned: called for each part of an imported row that was left out, in order.
    ///   - landed: called after each thousand rows, with the position in the file after them.
    /// - Throws: ``UserFileError``; the rows before its position were imported.
    package func callAsFunction(
        _ reader: any UserFileReader,
        after counts: Counts = Counts(),
        refused: (Refusal) throws -> Void,
        warned: (Warning) throws -> Void,
        landed: (Counts, _ end: UInt64) throws -> Void
    ) async throws -> Counts {
        var counts = counts
        let origin = try options.hashing.map { hashing throws(PasswordParameterError) in
            try ImportAccounts.origin(hashing.algorithm, key: hashing.key, project)
        }
        var rows = Rows(reader: reader)
        while true {
            let batch = rows.next(Self.batch)
            if !batch.isEmpty {
                let (refusals, warnings) = try await land(batch, origin, &counts)
                for refusal in refusals { try refused(refusal) }
                for warning in warnings { try warned(warning) }
                try landed(counts, batch[batch.count - 1].end)
            }
            if let error = rows.error { throw error }
            if batch.count < Self.batch { return counts }
        }
    }

    private func land(
        _ rows: [UserRow],
        _ origin: PasswordHash.Origin?,
        _ counts: inout Counts
    ) async throws -> ([Refusal], [Warning]) {
        var refusals: [Refusal] = []
        var entries: [(row: Int, entry: ImportAccounts.Entry)] = []
        for row in rows {
            let id = (try? row.user.get()).flatMap { try? $0.string("localId") }
            do {
                entries.append((row.number, try entry(of: try row.user.get(), origin)))
            } catch let error as WireError {
                refusals.append(Refusal(row: row.number, localID: id, reason: error.message))
            } catch let error as UserRow.RowError {
                refusals.append(Refusal(row: row.number, localID: id, reason: error.reason))
            }
        }
        let outcome = try await importAccounts(
            entries.map(\.entry),
            replaces: options.replaces,
            dryRun: options.dryRun,
            project
        )
        var known = 0
        for (index, problem) in outcome.problems {
            guard problem != .accountExists else {
                known += 1
                continue
            }
            let (row, entry) = entries[index]
            refusals.append(Refusal(row: row, localID: entry.localID, reason: problem.rawValue))
        }
        counts.rows += rows.count
        counts.known += known
        counts.refused += refusals.count
        counts.imported += entries.count - outcome.problems.count
        let warnings = outcome.leftOut.flatMap { index, all in
            let (row, entry) = entries[index]
            return all.map { Warning(row: row, localID: entry.localID, text: $0.rawValue) }
        }
        return (refusals.sorted { $0.row < $1.row }, warnings.sorted { ($0.row, $0.text) < ($1.row, $1.text) })
    }

    private func entry(of user: WireObject, _ origin: PasswordHash.Origin?) throws -> ImportAccounts.Entry {
        var entry = try ImportAccounts.Entry(user)
        for (index, enrollment) in try user.objects("mfaInfo").enumerated() {
            let secret = try enrollment.object("totpInfo")?.string("sharedSecretKey")
            entry.secondFactors[index].sharedSecret = secret.flatMap { Base32.decode($0) }
        }
        if let hash = try user.bytes("passwordHash"), !hash.isEmpty {
            guard let origin else {
                throw UserRow.RowError(reason: "has a password hash without hash parameters (--hash-config)")
            }
            entry.password = .hash(PasswordHash(salt: try user.bytes("salt") ?? [], hash: hash, origin: origin))
        } else if let password = try user.string("rawPassword"), !password.isEmpty {
            entry.password = .plain(Secret(password))
        }
        return entry
    }

    /// Takes rows from a reader, and keeps its error until they were imported.
    private struct Rows {
        var reader: any UserFileReader
        var error: (any Error)?

        mutating func next(_ count: Int) -> [UserRow] {
            var rows: [UserRow] = []
            rows.reserveCapacity(count)
            do {
                while rows.count < count, let row = try reader.next() { rows.append(row) }
            } catch { self.error = error }
            return rows
        }
    }
}
