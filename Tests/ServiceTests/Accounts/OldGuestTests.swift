import Foundation
import Projects
import Storage
import TestKit
import Testing

/// One after the other: the sweep of one clock would meet the other's accounts.
@Suite("Old anonymous accounts", .database, .serialized)
struct OldGuestTests {
    @Test(
        "are deleted after thirty days where the project wants it, and nobody else is",
        .database,
        arguments: [true, false]
    )
    func areDeleted(isWanted: Bool) async throws {
        var options = TestService.Options()
        options.settings.deletesOldGuests = isWanted
        try await TestService.run(options) { service in
            let old = try await service.call("accounts:signUp")
            let linked = try await service.signUp("ada@example.com")
            let named = try await service.admin("accounts", ["phoneNumber": "+491701234567"])
            let custom = try await service.admin(
                "accounts:batchCreate",
                ["users": [["localId": "c", "customAuth": true]]]
            )
            #expect(custom["error"] == nil, "\(custom)")
            let survivor = try await service.call("accounts:signUp")
            let merged = try await service.call("accounts:signUp")
            try await service.merge(merged.localID, into: survivor.localID).expectOK()
            service.clock.advance(by: 30 * 86_400 - 60)
            let young = try await service.call("accounts:signUp")
            try await service.sweep()
            #expect(try await service.account(old.localID) != nil, "a minute early")
            service.clock.advance(by: 120)
            try await service.sweep()
            #expect(try await (service.account(old.localID) == nil) == isWanted)
            for kept in [linked.localID, named.localID, "c", survivor.localID, young.localID] {
                #expect(try await service.account(kept) != nil, "\(kept ?? "")")
            }
            guard isWanted else { return }
            try await service.refresh(old.refreshToken).expectRefused("USER_NOT_FOUND")
            let entries = try await service.admin("auditEntries?localId=\(old.localID ?? "")")
            #expect(
                entries["auditEntries"]?.array?.contains { $0["action"] == "ACCOUNT_DELETED" } == true,
                "\(entries)"
            )
        }
    }
}
