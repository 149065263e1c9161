import Domain
import Foundation
package import Postgres
import Secrets

/// A column with values sealed under the key ring; the list of all of them serves resealing.
package struct SealedColumn: Sendable {
    package let table: SQL
    package let column: SQL
    /// The columns of the table's primary key, in order.
    let key: [KeyColumn]
    /// Whether nodes cannot work without it: a few rows of configuration.
    let isConfiguration: Bool
    /// The place that a row's value is sealed for, by the row's key.
    private let place: @Sendable ([String]) -> String
    private let isSecondFactors: Bool

    enum KeyColumn: Sendable, ExpressibleByStringLiteral {
        case text(SQL)
        /// Written in hexadecimal digits.
        case bytes(SQL)

        init(stringLiteral name: StaticString) { self = .text(SQL(stringLiteral: name)) }
    }

    private init(
        _ table: SQL,
        _ column: SQL,
        key: [KeyColumn],
        isConfiguration: Bool = false,
        isSecondFactors: Bool = false,
        place: @escaping @Sendable ([String]) -> String
    ) {
        self.table = table
        self.column = column
        self.key = key
        self.isConfiguration = isConfiguration
        self.isSecondFactors = isSecondFactors
        self.place = place
    }

    package static let all: [SealedColumn] =
        [
            SealedColumn("signing_keys", "private_key", key: ["kid"], isConfiguration: true) {
                "signing_keys/\($0[0])"
            },
            SealedColumn("password_configurations", "sealed_key", key: ["project", "id"]) {
                "password_configurations/\($0[0])/\($0[1])"
            },
            SealedColumn("flows", "payload", key: ["project", .bytes("state_hash")]) {
                "flows/\($0[0])/\($0[1])"
            },
            SealedColumn("pending_credentials", "payload", key: ["project", .bytes("handle_hash")]) {
                "pending_credentials/\($0[0])/\($0[1])"
            },
            SealedColumn("outbox", "payload", key: ["project", "message"]) { "outbox/\($0[0])/\($0[1])" },
            SealedColumn("admin_credentials", "console_secrets", key: ["id"]) { ConsoleSecrets.place($0[0]) },
            SealedColumn("kept_names", "payload", key: ["project", "tenant", "provider", "subject"]) {
                "kept_names/\($0[0])/\($0[1])/\($0[2])/\(SecureHash.sha256Hex($0[3]))"
            },
            SealedColumn("accounts", "second_factors", key: ["project", "tenant", "account"], isSecondFactors: true) {
                "accounts/\($0[0])/\($0[2])/second_factors/"
            },
        ]
        + ["password_signer_key", "delivery"].map { (column: SQL) in
            SealedColumn("projects", column, key: ["project"], isConfiguration: true) {
                "projects/\($0[0])/\(column.text)"
            }
        }
        + ["client_secret", "webhook_secret"].map { (column: SQL) in
            SealedColumn(
                "provider_configurations",
                column,
                key: ["project", "tenant", "provider"],
                isConfiguration: true
            ) { "provider_configurations/\($0[0])/\($0[1])/\($0[2])/\(column.text)" }
        }
        + ["tokens", "refresh_token", "profile"].map { (column: SQL) in
            SealedColumn("linked_credentials", column, key: ["project", "tenant", "account", "provider"]) {
                "linked_credentials/\($0[0])/\($0[2])/\($0[3])/\(column.text)"
            }
        }

    package var name: String { "\(table.text).\(column.text)" }

    // MARK: Statements

    /// The keys and column values of a number of rows, in the order of the key, after a given one.
    func rows(after place: [String], limit: Int) -> SQL {
        let bounds = SQL.list(zip(key, place).map { key, text in key.value("\(text)::text") })
        return """
            SELECT \(sql: keyNames), \(sql: column) FROM \(sql: table)
            WHERE (\(sql: keyNames)) > (\(sql: bounds)) ORDER BY \(sql: keyNames) LIMIT \(limit)
            """
    }

    /// The position before the first row.
    var start: [String] { key.map { _ in "" } }

    var keyNames: SQL { SQL.list(key.map(\.name)) }

    var keyAsText: SQL { "ARRAY[\(sql: SQL.list(key.map(\.selected)))]" }

    /// The sealed values of rows, one per row, as `value`.
    func values(in source: SQL) -> SQL {
        if isSecondFactors {
            "SELECT \(sql: Self.secretOfFactor) AS value FROM \(sql: source), \(sql: factors) f WHERE f->>'secret' <> ''"
        } else {
            // Delivered messages have an empty payload.
            "SELECT \(sql: column) AS value FROM \(sql: source) WHERE length(\(sql: column)) > 2"
        }
    }

    /// Matches rows with a value that another key than the first one sealed.
    func isDue(_ prefix: [UInt8]) -> SQL {
        if isSecondFactors {
            """
            EXISTS (SELECT FROM \(sql: factors) f
                WHERE f->>'secret' <> '' AND substring(\(sql: Self.secretOfFactor) FROM 1 FOR \(Int32(prefix.count))) <> \(prefix))
            """
        } else {
            "length(\(sql: column)) > 2 AND substring(\(sql: column) FROM 1 FOR \(Int32(prefix.count))) <> \(prefix)"
        }
    }

    private static let secretOfFactor: SQL = "decode(f->>'secret', 'base64')"
    private var factors: SQL { "jsonb_array_elements(\(sql: column)::jsonb)" }

    /// The column as bytes.
    var bytes: SQL { isSecondFactors ? "convert_to(\(sql: column), 'UTF8')" : column }

    /// The assignment of an update, from bytes named `value`.
    func assignment(_ value: SQL) -> SQL {
        // A concurrent write of an account that was read before would restore the old value.
        isSecondFactors
            ? "\(sql: column) = convert_from(\(sql: value), 'UTF8'), version = version + 1"
            : "\(sql: column) = \(sql: value)"
    }

    // MARK: Values

    /// The bytes of a row's column, sealed with the first key.
    func resealed(_ bytes: [UInt8], of row: [String], under keyRing: KeyRing) throws -> [UInt8] {
        let place = place(row)
        guard isSecondFactors else { return try keyRing.seal(try keyRing.open(bytes, for: place), for: place) }
        var factors = try SecondFactorColumn.factors(in: String(decoding: bytes, as: UTF8.self))
        for (index, factor) in factors.enumerated() {
            guard case .totp(let sealed, let lastStep) = factor.kind else { continue }
            let secret = try keyRing.open(sealed, for: place + factor.id)
            factors[index].kind = .totp(
                sealedSecret: try keyRing.seal(secret, for: place + factor.id),
                lastStep: lastStep
            )
        }
        return Array((try SecondFactorColumn.text(of: factors) ?? "").utf8)
    }
}

extension SealedColumn.KeyColumn {
    var name: SQL {
        switch self {
        case .text(let name), .bytes(let name): name
        }
    }

    /// The column as text.
    var selected: SQL {
        switch self {
        case .text(let name): name
        case .bytes(let name): "encode(\(sql: name), 'hex')"
        }
    }

    /// The value from text.
    func value(_ text: SQL) -> SQL {
        switch self {
        case .text: text
        case .bytes: "decode(\(sql: text), 'hex')"
        }
    }
}
