import TestKit
import Testing

@Suite("What a room may reach")
struct RoomSourceTests {
    @Test("routes reach stores and providers through use cases alone")
    func stores() throws {
        let found = try Repository.files(below: "Sources/IdentityService", suffix: ".swift").filter {
            try Repository.text("Sources/IdentityService/\($0)").contains(/\baccounts\.(stores|federation|passwords)/)
        }
        #expect(
            Set(found) == [
                "Console/ConsoleRoutes+Operations.swift", "Routes/MetricsRoutes.swift", "Routes/Readiness.swift",
                "ServiceAssembly.swift",
            ]
        )
    }
}
