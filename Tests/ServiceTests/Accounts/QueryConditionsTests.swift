import Domain
import Foundation
import Postgres
import Projects
import Storage
import Testing
import TestKit

@Suite("accounts:query: conditions", .database, .testProvider, .serialized)
struct QueryConditionsTests {
    @Test("accounts are found by method, domain, use and state, in ranges, pages and numbers alike")
    func conditions() async throws {
        try await LinkingWorld.run { world in
            let service = world.service
            let start = service.clock.seconds
            // Unverified: who proves the address takes the account over, and the password is detached.
            _ = try await world.account(["localId": "taken", "email": "ada@example.com", "password": "correct horse"])
            _ = try await world.acme(world.person())
            _ = try await world.account([
                "localId": "link", "email": "link@other.example", "phoneNumber": "+491701234567",
            ])
            try await world.update("link", ["linkProviderUserInfo": ["providerId": "google.com", "rawId": "L"]])
            _ = try await world.account(["localId": "off", "email": "off@sub.example.com", "disabled": true])
            _ = try await world.account(["localId": "none"])
            service.clock.advance(by: 1000)
            let relay = try await world.google(world.googlePerson("R1", email: "relay@example.com"))
            let relayed = try #require(relay.localID)
            service.clock.advance(by: 1000)
            let gone = try await world.google(world.googlePerson("G1", email: "gone@example.com"))
            let left = try #require(gone.localID)
            try await service.admin("accounts:signOut", ["localId": .string(left)])
            let database = service.stores.database
            let project = service.project.id.rawValue
            try await database.execute(
                "UPDATE linked_credentials SET email_is_relay = true WHERE project = \(project) AND account = \(relayed)"
            )
            try await database.execute(
                """
                UPDATE credential_subjects SET revoked_at = now() WHERE project = \(project) AND account = \(left)
                """
            )
            try await database.execute(
                """
                UPDATE credential_subjects SET blocked_at = now() WHERE project = \(project) AND account = 'link'
                """
            )
            let all: Set = ["taken", "link", "off", "none", relayed, left]
            let milliseconds = { (seconds: Int64) in JSON.string("\((start + seconds) * 1000)") }
            for (condition, meant) in [
                (["providerId": "google.com"], ["link", relayed, left]), (["providerId": "oidc.acme"], ["taken"]),
                (["providerId": "phone"], ["link"]), (["providerId": "password"], []),
                (["providerId": "github.com"], []), (["provider_id": "phone"], ["link"]),
                (["emailDomain": "example.com"], ["taken", relayed, left]),
                (["emailDomain": "OTHER.example"], ["link"]),
                (["emailDomain": "example"], []), (["emailDomain": "sub.example.com"], ["off"]),
                (["disabled": true], ["off"]), (["disabled": false], all.subtracting(["off"])),
                (["hasDetachedCredential": true], ["taken"]),
                (["hasDetachedCredential": false], all.subtracting(["taken"])),
                (["hasRelayAddress": true], [relayed]), (["hasRelayAddress": false], all.subtracting([relayed])),
                (["hasRevokedConsent": true], [left]), (["hasRevokedConsent": false], all.subtracting([left])),
                (["isBlockedAtProvider": true], ["link"]),
                (["isBlockedAtProvider": false], all.subtracting(["link"])),
                (["hasSession": true], ["taken", relayed]),
                (["hasSession": false], all.subtracting(["taken", relayed])),
                (["lastUsedBefore": milliseconds(1000)], ["taken", "link", "off", "none"]),
                (["lastUsedBefore": milliseconds(1001)], all.subtracting([left])),
                (["lastUsedAfter": milliseconds(999)], [relayed, left]),
                (["lastUsedAfter": milliseconds(1500)], [left]),
                (
                    ["lastUsedAfter": milliseconds(-1), "lastUsedBefore": milliseconds(1)],
                    ["taken", "link", "off", "none"]
                ),
                (["providerId": "google.com", "emailDomain": "example.com", "hasSession": true], [relayed]),
                (["providerId": "google.com", "disabled": true], []),
            ] as [(JSON, Set<String>)] {
                let range = try await service.query(condition)
                #expect(Set(range.ids) == meant && range.ids.count == meant.count, "\(condition): \(range)")
                let page = try await service.query(condition.merging(["pageSize": 500]))
                #expect(page.ids == range.ids && page["nextPageToken"] == nil, "\(condition): \(page)")
                let count = try await service.query(condition.merging(["returnUserInfo": false]))
                #expect(count["recordsCount"]?.string == String(meant.count), "\(condition): \(count)")
            }
        }
    }

    @Test("another project's accounts are not found")
    func staysInItsProject() async throws {
        try await TestService.run { other in
            try await other.admin("accounts", ["localId": "theirs", "email": "ada@example.com"])
            try await TestService.run { service in
                try await service.admin("accounts", ["localId": "ours"])
                for body in [
                    [:], ["sortBy": "USER_EMAIL"], ["sortBy": "CREATED_AT", "order": "DESC"], ["pageSize": 5],
                    ["pageSize": 5, "sortBy": "USER_EMAIL"], ["pageSize": 5, "disabled": false],
                ] as [JSON] {
                    #expect(try await service.query(body).ids == ["ours"], "\(body)")
                }
                #expect(try await service.query(["expression": [["email": "ada@example.com"]]]).ids == [])
                #expect(try await service.query(["returnUserInfo": false])["recordsCount"] == "1")
            }
        }
    }
}
