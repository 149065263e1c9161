import Foundation
import HTTPTypes
import Outbound
import Synchronization
import TestKit
import Testing
import Text

/// Where the client goes, and where it does not.
@Suite(.timeLimit(.minutes(10))) struct OutboundAddressTests {
    @Test(
        "T-B17: a URL that is not plainly one is refused",
        arguments: [
            "", "x", "/a", "ftp://a.example/", "file:///etc/passwd", "https://", "https:///a", "https://u@a.example/",
            "https://u:p@a.example/", "https://a.example/#f", "https://a.example:0/", "https://a.example:99999/",
            "https://a.example:x/", "https://a b/", "https://a.example/ b", "https://a.example\\@b.example/",
            "https://a.example/\\b.example",
            "https://%6c/",
            "https://ä.example/", "https://[::1/", "https://[zz]/", "http:a.example", "https://a.example/\r\nx",
        ]
    )
    func refusesAURL(_ url: String) async throws {
        try await ScriptedServer.withClient { client, _ in
            await #expect(throws: OutboundError.invalidURL) { try await client.send(OutboundRequest(url: url)) }
        }
    }

    @Test("T-B17: plain http is for loopback, where it is allowed")
    func plainHTTPIsForLoopbackWhereItIsAllowed() async throws {
        try await ScriptedServer.withClient(policy: AddressPolicy()) { client, server in
            await #expect(throws: OutboundError.invalidURL) {
                try await client.send(OutboundRequest(url: server.base + "/a"))
            }
        }
        let resolver = AddressResolver.fixed("93.184.216.34")
        try await ScriptedServer.withClient(resolver: resolver) { client, _ in
            await #expect(throws: OutboundError.refusedAddress) {
                try await client.send(OutboundRequest(url: "http://a.example/"))
            }
        }
    }

    @Test(
        "T-B17: inner addresses are refused",
        arguments: [
            "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest/meta-data", "https://10.0.0.1/",
            "https://[fd00:ec2::254]/", "https://[::ffff:127.0.0.1]/", "https://0.0.0.0/",
        ]
    )
    func refusesAnInnerAddress(_ url: String) async throws {
        try await ScriptedServer.withClient(policy: AddressPolicy()) { client, _ in
            await #expect(throws: OutboundError.refusedAddress) { try await client.send(OutboundRequest(url: url)) }
        }
    }

    @Test("T-F10: what is allowed for providers is not for strangers, by address, by name, or by a name that changes")
    func strangers() async throws {
        let inside = ["127.0.0.1", "::1", "10.0.0.1", "fd00::1", "::ffff:10.0.0.1", "100.64.0.1", "169.254.169.254"]
        let policy = AddressPolicy(allowsLoopback: true, allowsPrivateNetworks: true)
        let answers = Mutex<[String]>([])
        let resolver = AddressResolver { _ in answers.withLock { $0 }.compactMap { IPAddress($0) } }
        var limits = OutboundLimits.patient
        limits.addressLifetime = .zero
        try await ScriptedServer.withClient(policy: policy, limits: limits, resolver: resolver) { client, server in
            func send(_ url: String) async -> OutboundError? {
                var request = OutboundRequest(url: url)
                request.isForStranger = true
                do throws(OutboundError) { _ = try await client.send(request) } catch { return error }
                return nil
            }
            for address in inside {
                let host = address.contains(":") ? "[\(address)]" : address
                #expect(await send("https://\(host)/") == .refusedAddress, "\(address)")
                answers.withLock { $0 = [address] }
                #expect(await send("https://rebind.example/") == .refusedAddress, "\(address)")
            }
            #expect(await send(server.base) == .invalidURL, "plain http")
            #expect(server.requests.isEmpty)
            // The same client reaches a provider there.
            let answer = try await client.send(OutboundRequest(url: server.base + "/x"))
            #expect(answer.status == 404)
        }
    }

    @Test("T-B17: a name that leads inside is refused") func refusesANameThatLeadsInside() async throws {
        let resolver = AddressResolver.fixed("169.254.169.254", "10.0.0.1")
        try await ScriptedServer.withClient(policy: AddressPolicy(), resolver: resolver) { client, _ in
            await #expect(throws: OutboundError.refusedAddress) {
                try await client.send(OutboundRequest(url: "https://rebind.example/"))
            }
        }
    }

    @Test("T-B17: the connection goes to the very address that was checked")
    func connectsToTheVeryAddressThatWasChecked() async throws {
        // The name exists for this resolver alone: had the connection looked it up by itself, it would have failed.
        let lookups = Mutex<[String]>([])
        let resolver = AddressResolver { host in
            lookups.withLock { $0.append(host) }
            return ["127.0.0.1"].compactMap { IPAddress($0) }
        }
        try await ScriptedServer.withClient(resolver: resolver) { client, server in
            server.on("/a", .json("{}"))
            for _ in 0..<3 {
                let url = "http://Pinned.Example.invalid:\(server.port)/a"
                let response = try await client.send(OutboundRequest(url: url))
                #expect(response.status == 200)
            }
            #expect(server.requests.last?.headers["host"] == "pinned.example.invalid:\(server.port)")
        }
        #expect(lookups.withLock { $0 } == ["pinned.example.invalid"])
    }

    @Test func triesTheNextAddressWhenNobodyListensAtTheFirst() async throws {
        let resolver = AddressResolver.fixed("127.0.0.2", "127.0.0.1")
        try await ScriptedServer.withClient(resolver: resolver) { client, server in
            server.on("/a", .json("{}"))
            let url = "http://two.example.invalid:\(server.port)/a"
            let response = try await client.send(OutboundRequest(method: .post, url: url, body: [1]))
            #expect(response.status == 200)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aNameWithoutAnAddressIsUnreachable() async throws {
        try await ScriptedServer.withClient(resolver: AddressResolver { _ in [] }) { client, _ in
            await #expect(throws: OutboundError.unreachable) {
                try await client.send(OutboundRequest(url: "https://nobody.example/"))
            }
        }
    }

    @Test("T-B17: a redirect is an answer, not followed", arguments: [301, 302, 303, 307, 308])
    func aRedirectIsAnAnswer(_ status: Int) async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .status(status, headers: [("location", server.base + "/b")]))
            let response = try await client.send(OutboundRequest(method: .post, url: server.base + "/a", body: [1]))
            #expect(response.status == status)
            #expect(server.requests.map(\.path) == ["/a"])
        }
    }

}
