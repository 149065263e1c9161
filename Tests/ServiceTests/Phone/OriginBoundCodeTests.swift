import Delivery
import Foundation
import Projects
import Storage
import TestKit
import Testing

@Suite("SMS codes that are bound to a page", .database)
struct OriginBoundCodeTests {
    /// The hosts that the SMS name to requests from pages.
    private func hosts(
        _ origins: [String?],
        _ change: (inout ProjectSettings) -> Void = { _ in }
    ) async throws -> [String?] {
        try await PhoneScene.run {
            $0.authorizedDomains = ["app.example.com", "localhost"]
            $0.phone.bindsCodesToPages = true
            change(&$0)
        } _: { service in
            for (index, origin) in origins.enumerated() {
                let reply = try await service.call(
                    "accounts:sendVerificationCode",
                    ["phoneNumber": .string("+491555010\(index)")],
                    headers: origin.map { [("Origin", $0)] } ?? []
                )
                reply.expectOK()
            }
            let sent = try await service.stores.outbox.waiting(SMS.kind, in: Scope(project: service.project.id))
                .map { try JSONDecoder().decode(SMS.self, from: Data($0)) }
            for sms in sent {
                let last = sms.text(of: service.project).split(separator: "\n").last ?? ""
                #expect(sms.host == nil || last == "@\(sms.host ?? "") #\(sms.code)", "\(last)")
                #expect(sms.host != nil || !last.hasPrefix("@"))
            }
            return origins.indices.map { index in sent.first { $0.to == "+491555010\(index)" }?.host }
        }
    }

    @Test("name the host of a page of the project or of the service, by https, and no other")
    func names() async throws {
        let rows: [(String?, String?)] = [
            ("https://app.example.com", "app.example.com"), ("https://id.example.com", "id.example.com"),
            ("https://evil.example", nil), ("http://app.example.com", nil), ("http://localhost:8080", nil),
            ("https://app.example.com.evil.example", nil), ("null", nil), (nil, nil),
            ("https://app.example.com/x", nil), ("https://app.example.com #123456", nil),
        ]
        #expect(try await hosts(rows.map(\.0)) == rows.map(\.1))
    }

    @Test("name none unless the project says so")
    func off() async throws {
        #expect(try await hosts(["https://app.example.com"]) { $0.phone.bindsCodesToPages = false } == [nil])
    }
}
