import Accounts
import Domain
import HTTPTypes
import NIOCore
import Text

import struct Foundation.Date

/// Accounts as a CSV file (RFC 4180) for spreadsheets.
enum AccountCSV {
    private static let columns: [(name: String, value: @Sendable (Account) -> String)] = [
        ("localId", { $0.id.rawValue }),
        ("email", { $0.email?.original ?? "" }),
        ("emailVerified", { $0.email == nil ? "" : String($0.emailVerified) }),
        ("displayName", { $0.displayName ?? "" }),
        ("phoneNumber", { $0.phoneNumber ?? "" }),
        ("signInMethods", { $0.methods.map(\.rawValue).sorted().joined(separator: " ") }),
        ("secondFactors", { String($0.secondFactors.count) }),
        ("disabled", { String($0.isDisabled) }),
        ("createdAt", { time($0.createdAt) }),
        ("lastSignInAt", { $0.lastSignInAt.map { time($0) } ?? "" }),
    ]

    /// A file whose accounts are read as the client takes them.
    static func response(_ accounts: QueryAccounts.Export) -> Response {
        var response = Response(
            status: .ok,
            headers: [
                .contentType: "text/csv; charset=utf-8", .contentDisposition: "attachment; filename=\"accounts.csv\"",
                .cacheControl: "no-store",
            ],
            body: ByteBuffer(string: line(columns.map(\.name)))
        )
        response.nextPart = {
            guard let page = try await accounts.next() else { return nil }
            return ByteBuffer(string: page.map { account in line(columns.map { $0.value(account) }) }.joined())
        }
        return response
    }

    private static func line(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") + "\r\n" }

    /// A field that no spreadsheet takes for a formula (OWASP, CSV Injection): users choose their names.
    static func field(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n＝＋－＠".unicodeScalars.contains($0) } ?? false
        return "\"" + (isFormula ? "'" : "") + text.escaped(.csv) + "\""
    }

    private static func time(_ date: Date) -> String {
        UTCTime(seconds: Int64(date.timeIntervalSince1970)).text + "Z"
    }
}
