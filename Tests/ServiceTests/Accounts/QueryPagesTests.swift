import Foundation
import Projects
import TestKit
import Testing

@Suite("accounts:query: pages", .database)
struct QueryPagesTests {
    /// The accounts of a project as they should be.
    private struct Model {
        struct Place: Hashable, Comparable {
            var key: String
            var id: String

            static func < (left: Place, right: Place) -> Bool { (left.key, left.id) < (right.key, right.id) }
        }

        var sort: String
        var descends: Bool
        var random: SplitMix
        var places: Set<Place> = []
        /// Of the last account that was shown.
        var position: Place?

        mutating func letters() -> String {
            String((0..<6).map { _ in Character(Unicode.Scalar(UInt8.random(in: 0x61...0x7a, using: &random))) })
        }

        /// A new account: many share a time, and some have no address.
        mutating func make() -> JSON {
            let id = letters()
            let time = 1_700_000_000_000 + Int.random(in: 0...5, using: &random)
            let email = Int.random(in: 0..<3, using: &random) == 0 ? nil : "\(letters())@example.com"
            let key =
                switch sort {
                case "CREATED_AT": String(time)
                case "USER_EMAIL": email ?? ""
                default: ""
                }
            places.insert(Place(key: key, id: id))
            return ["localId": .string(id), "createdAt": .string(String(time)), "email": JSON(email)]
        }

        func following(_ count: Int) -> [Place] {
            let ordered = descends ? places.sorted(by: >) : places.sorted()
            let rest = ordered.drop { place in
                guard let position else { return false }
                return descends ? place >= position : place <= position
            }
            return Array(rest.prefix(count))
        }
    }

    @Test(
        "each page is what follows the one before, whatever comes and goes between them",
        arguments: ["USER_ID", "CREATED_AT", "USER_EMAIL"],
        ["ASC", "DESC"]
    )
    func exactness(_ sort: String, _ order: String) async throws {
        for seed in UInt64(1)...3 {
            try await TestService.run { service in
                var model = Model(sort: sort, descends: order == "DESC", random: SplitMix(seed: seed))
                try await upload((0..<30).map { _ in model.make() }, to: service)
                var token: String?
                var pages = 0
                repeat {
                    let size = Int.random(in: 1...6, using: &model.random)
                    let page = try await service.query(
                        [
                            "sortBy": .string(sort), "order": .string(order), "pageSize": .number(Double(size)),
                            "pageToken": JSON(token),
                        ]
                    )
                    let expected = model.following(size)
                    #expect(page.ids == expected.map(\.id), "seed \(seed), page \(pages): \(page)")
                    #expect(page["recordsCount"]?.string == String(expected.count))
                    token = page["nextPageToken"]?.string
                    #expect((token != nil) == (expected.count == size), "seed \(seed), page \(pages)")
                    model.position = expected.last ?? model.position
                    pages += 1
                    guard pages < 8 else { continue }
                    try await upload((0..<3).map { _ in model.make() }, to: service)
                    // The last one that was shown too: its place remains.
                    var gone = [model.position].compactMap(\.self)
                    let there = model.places.sorted()
                    gone += there.shuffled(using: &model.random).prefix(2)
                    model.places.subtract(gone)
                    let ids = JSON.array(gone.map { .string($0.id) })
                    try await service.admin("accounts:batchDelete", ["localIds": ids, "force": true])
                } while token != nil && pages < 100
                #expect(pages > 4 && pages < 100)
            }
        }
    }

    private func upload(_ users: [JSON], to service: TestService) async throws {
        let uploaded = try await service.admin("accounts:batchCreate", ["users": .array(users)])
        #expect(uploaded.status == 200 && uploaded["error"] == nil, "\(uploaded)")
    }

    @Test("a page token works only for its query in its project, and reveals no address")
    func tokens() async throws {
        try await TestService.run { service in
            let users: [JSON] = [
                ["localId": "a", "email": "secret@example.com"], ["localId": "b", "email": "zoe@example.com"],
            ]
            try await upload(users, to: service)
            let query: JSON = ["sortBy": "USER_EMAIL", "pageSize": 1]
            let token = try #require(try await service.query(query)["nextPageToken"]?.string)
            let bytes = Data(base64Encoded: token.replacing("-", with: "+").replacing("_", with: "/") + "==") ?? Data()
            #expect(!token.contains("secret") && !String(decoding: bytes, as: UTF8.self).contains("secret"))
            let good = query.merging(["pageToken": .string(token)])
            #expect(try await service.query(good).ids == ["b"])
            #expect(try await service.query(good.merging(["pageSize": 7])).ids == ["b"], "a size may change")
            for change in [
                ["sortBy": "USER_ID"], ["order": "DESC"], ["disabled": false], ["expression": [["userId": "b"]]],
                ["pageToken": .string(String(token.dropLast(2)))], ["pageToken": .string("B" + token.dropFirst())],
                ["pageToken": .string(token + "=")],
            ] as [JSON] {
                try await service.query(good.merging(change)).expectRefused("INVALID_PAGE_SELECTION")
            }
            try await TestService.run { other in
                try await other.query(good).expectRefused("INVALID_PAGE_SELECTION")
            }
        }
    }

    @Test("with conditions a page ends after 10,000 accounts, and the next one goes on where it ended")
    func endsEarly() async throws {
        try await TestService.run { service in
            try await service.fill(20_050)
            for (order, expected) in [("ASC", [0, 0, 1]), ("DESC", [1, 0, 0])] {
                for sort in ["USER_ID", "CREATED_AT", "USER_EMAIL"] {
                    var counts: [Int] = []
                    var token: String?
                    repeat {
                        let page = try await service.query(
                            [
                                "providerId": "phone", "sortBy": .string(sort), "order": .string(order),
                                "pageSize": 2, "pageToken": JSON(token),
                            ]
                        )
                        page.expectOK()
                        counts.append(page.ids.count)
                        token = page["nextPageToken"]?.string
                    } while token != nil && counts.count < 9
                    #expect(counts == expected, "\(sort) \(order)")
                }
            }
        }
    }
}
