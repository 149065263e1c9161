import Domain
import Foundation
import IdentityService
import Testing
import TestKit
import Text

/// What the hot paths read and write by hand, with Foundation as the judge.
@Suite("Hot answers against Codable")
struct HotAnswersTests {
    private struct User: Decodable {
        struct Provider: Decodable {
            let providerId: String
            let rawId: String?
            let federatedId: String?
            let email: String?
            let displayName: String?
            let photoUrl: String?
            let screenName: String?
            let phoneNumber: String?
        }

        let localId: String
        let email: String?
        let emailVerified: Bool?
        let displayName: String?
        let photoUrl: String?
        let phoneNumber: String?
        let passwordHash: String?
        let passwordUpdatedAt: Int64?
        let validSince: String?
        let disabled: Bool?
        let createdAt: String
        let lastLoginAt: String?
        let lastRefreshAt: Date?
        let customAttributes: String?
        let customAuth: Bool?
        let initialEmail: String?
        let screenName: String?
        let providerUserInfo: [Provider]?
    }

    private static func account(_ random: inout SplitMix) -> Account {
        func maybe(_ text: String, _ random: inout SplitMix) -> String? {
            Bool.random(using: &random) ? text : nil
        }
        let time = { (random: inout SplitMix) in
            Date(timeIntervalSince1970: Double(Int64.random(in: 0...4_000_000_000_000, using: &random)) / 1000)
        }
        var account = Account(
            id: AccountID("u" + random.text(upTo: 20)),
            validSince: Int64.random(in: 0...4_000_000_000, using: &random),
            createdAt: time(&random)
        )
        account.email = Bool.random(using: &random) ? EmailAddress("p\(random.next())@example.com") : nil
        account.emailVerified = .random(using: &random)
        account.displayName = maybe(random.text(upTo: 40), &random)
        account.photoURL = maybe("https://e.example/" + random.text(upTo: 40), &random)
        account.phoneNumber = maybe("+8190\(random.next() % 100_000_000)", &random)
        account.hasPassword = .random(using: &random)
        account.passwordUpdatedAt = account.hasPassword ? time(&random) : nil
        account.disabled = Bool.random(using: &random) ? .random(using: &random) : nil
        account.lastSignInAt = Bool.random(using: &random) ? time(&random) : nil
        account.lastRefreshAt = Bool.random(using: &random) ? time(&random) : nil
        account.customAttributes = maybe(#"{"role":"\u00e9"}"#, &random)
        account.customAuth = .random(using: &random)
        account.initialEmail = maybe("first@example.com", &random)
        account.screenName = maybe(random.text(upTo: 20), &random)
        for number in 0..<Int.random(in: 0..<4, using: &random) {
            account.linked.append(
                LinkedCredential(
                    provider: ProviderID("oidc.p\(number)"),
                    subject: "s" + random.text(upTo: 20),
                    email: maybe("p@example.com", &random),
                    profile: Profile(
                        displayName: maybe(random.text(upTo: 30), &random),
                        screenName: maybe(random.text(upTo: 10), &random)
                    )
                )
            )
        }
        return account
    }

    @Test("an account is what Codable reads", arguments: [1, 2, 3] as [UInt64])
    func accounts(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            return try style.parse(text)
        }
        for _ in 0..<300 {
            let account = Self.account(&random)
            var json = JSONWriter()
            json.object { $0.account(account, for: .admin) }
            let user = try decoder.decode(User.self, from: Data(json.text.utf8))
            #expect(user.localId == account.id.rawValue)
            #expect(user.email == account.email?.canonical)
            #expect(user.emailVerified == account.email.map { _ in account.emailVerified })
            #expect(user.displayName == account.displayName && user.photoUrl == account.photoURL)
            #expect(user.phoneNumber == account.phoneNumber && user.screenName == account.screenName)
            #expect((user.passwordHash != nil) == account.hasPassword)
            #expect(user.passwordUpdatedAt == account.passwordUpdatedAt.map(Self.milliseconds))
            #expect(user.validSince.flatMap { Int64($0) } ?? 0 == account.validSince)
            #expect(user.disabled == account.disabled)
            #expect(Int64(user.createdAt) == Self.milliseconds(account.createdAt))
            #expect(user.lastLoginAt.flatMap { Int64($0) } == account.lastSignInAt.map(Self.milliseconds))
            #expect(user.lastRefreshAt.map(Self.milliseconds) == account.lastRefreshAt.map(Self.milliseconds))
            #expect(user.customAttributes == account.customAttributes && user.initialEmail == account.initialEmail)
            #expect((user.customAuth ?? false) == account.customAuth)
            let linked = user.providerUserInfo?.filter { $0.providerId.hasPrefix("oidc.") } ?? []
            #expect(linked.map(\.providerId) == account.linked.map(\.provider.rawValue))
            #expect(linked.map(\.rawId) == account.linked.map(\.subject))
            #expect(linked.map(\.federatedId) == account.linked.map(\.subject))
            #expect(linked.map(\.email) == account.linked.map(\.email))
            #expect(linked.map(\.displayName) == account.linked.map(\.displayName))
            #expect(linked.map(\.screenName) == account.linked.map(\.screenName))
        }
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    @Test("a time is what Foundation writes, from the year 0 to 9999")
    func times() {
        var random = SplitMix(seed: 6)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let edges: [Int64] = [
            -62_167_219_200, -1, 0, 68_169_599, 68_169_600, 951_782_400, 951_868_800, 253_402_300_799,
        ]
        // Foundation changes to the Julian calendar before 1582.
        let others = (0..<2_000).map { _ in Int64.random(in: -12_000_000_000...253_402_300_799, using: &random) }
        for seconds in edges.dropFirst() + others {
            let date = Date(timeIntervalSince1970: TimeInterval(seconds))
            let time = UTCTime(seconds: seconds)
            #expect(time.text + "Z" == date.formatted(.iso8601))
            #expect(time.weekday + 1 == calendar.component(.weekday, from: date))
        }
        #expect(UTCTime(seconds: edges[0]).text == "0000-01-01T00:00:00")
    }

    @Test("a form is what URLComponents reads", arguments: [4, 5] as [UInt64])
    func forms(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        for _ in 0..<500 {
            var components = URLComponents()
            components.queryItems = (0..<Int.random(in: 1..<6, using: &random)).map { number in
                URLQueryItem(name: "n\(number)" + random.text(upTo: 6), value: random.text(upTo: 30))
            }
            // A form writes `+` for a space, and means it.
            let text = (components.percentEncodedQuery ?? "").replacing("+", with: "%2B").replacing("%20", with: "+")
            let items = try #require(FormFields(strict: text), "\(text)")
            for item in components.queryItems ?? [] {
                #expect(try items.value(item.name) == item.value, "\(text)")
            }
        }
    }
}
