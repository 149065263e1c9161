import Domain
import Foundation

/// The column `second_factors` of an account: a JSON array, null for none.
enum SecondFactorColumn {
    static func text(of factors: [SecondFactor]) throws -> String? {
        guard !factors.isEmpty else { return nil }
        return String(decoding: try JSONEncoder().encode(factors.map(Entry.init)), as: UTF8.self)
    }

    static func factors(in text: String?) throws -> [SecondFactor] {
        guard let text else { return [] }
        return try JSONDecoder().decode([Entry].self, from: Data(text.utf8)).map(\.factor)
    }

    private struct Entry: Codable {
        var id: String
        var phone: String?
        /// Sealed; only for an authenticator app.
        var secret: Data?
        var lastStep: Int64?
        var name: String?
        /// Seconds since 1970.
        var enrolledAt: Double

        init(_ factor: SecondFactor) {
            id = factor.id
            name = factor.displayName
            enrolledAt = factor.enrolledAt.timeIntervalSince1970
            switch factor.kind {
            case .phone(let number): phone = number
            case .totp(let sealedSecret, let step):
                secret = Data(sealedSecret)
                lastStep = step
            }
        }

        var factor: SecondFactor {
            let kind: SecondFactor.Kind =
                if let phone { .phone(phone) } else {
                    .totp(sealedSecret: secret.map { [UInt8]($0) } ?? [], lastStep: lastStep ?? 0)
                }
            return SecondFactor(
                id: id,
                kind: kind,
                displayName: name,
                enrolledAt: Date(timeIntervalSince1970: enrolledAt)
            )
        }
    }
}
