import Foundation
import Projects
import Testing

@Suite struct DeploymentLimitsTests {
    private func limits() throws -> DeploymentLimits {
        var numbers = RateLimitSettings()
        numbers[.smsPerAddress].count = 10
        return DeploymentLimits(
            numbers,
            networks: try [
                "203.0.113.0/24 smsPerAddress=500/3600", "203.0.113.64/26 smsPerAddress=900",
                "2001:db8::/32 mailsPerAddress=70/60",
            ]
            .map { try #require(DeploymentLimits.Network($0)) }
        )
    }

    @Test(
        "of the networks that contain an address the longest prefix counts, for the limits that it names",
        arguments: [
            ("203.0.113.1", .smsPerAddress, 500), ("203.0.113.65", .smsPerAddress, 900),
            ("203.0.114.1", .smsPerAddress, 10),
            ("203.0.113.65", .mailsPerAddress, 50), ("2001:db8:1::1", .mailsPerAddress, 70),
            ("::ffff:203.0.113.1", .smsPerAddress, 500),
            ("2001:db9::1", .mailsPerAddress, 50), (nil, .smsPerAddress, 10), ("203.0.113.1", .smsPerRecipient, 5),
        ] as [(String?, RateLimitKind, Int)]
    )
    func networks(_ address: String?, _ kind: RateLimitKind, _ count: Int) throws {
        #expect(try limits().budget(of: kind, for: address).count == count)
    }

    @Test(
        "what is no network with limits by address is none",
        arguments: [
            "", "203.0.113.0/24", "203.0.113.0/33 smsPerAddress=1", "school smsPerAddress=1", "203.0.113.0/24 sms=1",
            "203.0.113.0/24 smsPerRecipient=1", "203.0.113.0/24 smsPerAddress=0", "203.0.113.0/24 smsPerAddress=1/0",
            "203.0.113.0/24 smsPerAddress=1/2/3", "203.0.113.0/24 smsPerAddress",
            "203.0.113.0/24 smsPerAddress=1000001",
            "203.0.113.0/24 smsPerAddress=1 smsPerAddress=2", "203.0.113.0/24 consoleTriesPerAddress=9",
        ]
    )
    func faulty(_ text: String) { #expect(DeploymentLimits.Network(text) == nil) }

    @Test(
        "a project's number acts where it refuses what the deployment, or one of its networks, lets pass",
        arguments: [
            (.smsPerAddress, 5, 3_600, true), (.smsPerAddress, 700, 3_600, true), (.smsPerAddress, 900, 3_600, false),
            (.smsPerAddress, 900, 3_601, true), (.smsPerAddress, 1_000, 60, false), (.smsPerRecipient, 5, 3_600, false),
            (.smsPerRecipient, 6, 3_600, false), (.smsPerRecipient, 6, 7_200, true),
            (.passwordTries, 1_000_000, 1, true),
        ] as [(RateLimitKind, Int, Int, Bool)]
    )
    func acts(_ kind: RateLimitKind, _ count: Int, _ seconds: Int, _ acts: Bool) throws {
        #expect(try (limits().covers(RateLimitBudget(count: count, seconds: seconds), of: kind) == nil) == acts)
    }

    @Test("Firebase's quota of sign-ups counts from its start, or from when it was set, for its time")
    func quota() throws {
        let start = try #require(SignUpQuota.time("2030-01-01T00:00:00.5+09:00"))
        var quota = SignUpQuota()
        #expect(quota.budget(at: start) == nil)
        (quota.count, quota.duration, quota.setAt) = (1_000, "7200.5s", start)
        #expect(quota.budget(at: start) == RateLimitBudget(count: 1_000, seconds: 3_600))
        #expect(quota.budget(at: start.addingTimeInterval(7_200))?.count == 1_000)
        #expect(quota.budget(at: start.addingTimeInterval(7_201)) == nil)
        quota.startTime = "2030-01-01T00:00:00Z"
        #expect(quota.budget(at: start) == nil)
        #expect(quota.budget(at: start.addingTimeInterval(9 * 3_600))?.count == 1_000)
        for text in ["", "tomorrow", "2030-01-01", "2030-01-01T00:00:00", "1893456000"] {
            #expect(SignUpQuota.time(text) == nil)
        }
        for text in ["", "3600", "-1s", "1e3s", "s", "nans", "infs", "1 s"] {
            #expect(SignUpQuota.seconds(text) == nil, "\(text)")
        }
    }
}
