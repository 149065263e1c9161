import Delivery
import Outbound
import Secrets
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct LeakedPasswordServiceTests {
    /// `password` has the SHA-1 5BAA6 1E4C9B93F3F0682250B6CF8331B7EE68FD8.
    private static let suffix = "1E4C9B93F3F0682250B6CF8331B7EE68FD8"

    @Test(
        "takes a password for leaked whose suffix the service lists with a number",
        arguments: [
            ("0018A45C4D1DEF81644B54AB7F969B88D65:3\r\n\(suffix):52256179\r\n", true),
            ("\(suffix.lowercased()):1", true), ("\(suffix):0\r\n", false), ("", false), (suffix, false),
            ("0018A45C4D1DEF81644B54AB7F969B88D65:3\n", false), ("5BAA6\(suffix):7", false), ("\u{fffd}:1", false),
        ]
    )
    func reads(_ body: String, _ isLeaked: Bool) async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/range/5BAA6", .text(body, type: "text/plain"))
            let service = LeakedPasswordService(server.base + "/range", through: client)
            let found = try await service.contains(Secret("password"), share: "p")
            #expect(found == isLeaked)
        }
    }

    @Test("tells it five digits of the hash and nothing else, and asks for padding")
    func asks() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/range/5BAA6", .text("", type: "text/plain"))
            _ = try await LeakedPasswordService(server.base + "/range/", through: client)
                .contains(Secret("password"), share: "p")
            let request = try #require(server.requests.first)
            #expect(request.method == "GET" && request.path == "/range/5BAA6" && request.query.isEmpty)
            #expect(request.headers["add-padding"] == "true" && request.body.isEmpty)
            #expect(!"\(request)".contains("password") && !"\(request)".uppercased().contains(Self.suffix.prefix(8)))
        }
    }

    @Test("does not know when the service fails")
    func fails() async throws {
        try await ScriptedServer.withClient { client, server in
            let service = LeakedPasswordService(server.base, through: client)
            server.on("/5BAA6", .status(503), .status(404), .hangUp)
            for status in [503, 404] {
                let error = await #expect(throws: LeakedPasswordService.Unusable.self) {
                    try await service.contains(Secret("password"), share: "p")
                }
                #expect(error?.status == status)
            }
            await #expect(throws: OutboundError.self) {
                try await service.contains(Secret("password"), share: "p")
            }
        }
    }
}
