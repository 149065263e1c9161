import Foundation
import HTTPTypes
import Outbound
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct OutboundClientTests {
    @Test func sendsARequestAndReadsTheAnswer() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .json("hello", status: 201, headers: [("x-answer", "yes")]))
            let response = try await client.send(
                OutboundRequest(
                    method: .post,
                    url: server.base + "/a?q=%20x",
                    headers: [.accept: "a/b", .userAgent: "evil"],
                    body: Array("body".utf8)
                )
            )
            #expect(response.status == 201)
            #expect(response.body == Array("hello".utf8))
            let name = try #require(HTTPField.Name("x-answer"))
            #expect(response.headers[name] == "yes")
            let request = try #require(server.requests.first)
            #expect(request.method == "POST")
            #expect(request.query == "q=%20x")
            #expect(request.body == "body")
            #expect(request.headers["accept"] == "a/b")
            // Otherwise a server may code its answer as it likes (RFC 9110 §12.5.3).
            #expect(request.headers["accept-encoding"] == "identity")
            #expect(request.headers["user-agent"] == "identity/1.0")
            #expect(request.headers["host"] == "127.0.0.1:\(server.port)")
        }
    }

    @Test func nothingIsSentTwice() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/ok", .json("{}"))
            server.on("/gone", .hangUp)
            // The second request finds the connection of the first and loses it.
            _ = try await client.send(OutboundRequest(url: server.base + "/ok"))
            await #expect(throws: OutboundError.unreachable) {
                try await client.send(OutboundRequest(method: .post, url: server.base + "/gone", body: [1]))
            }
            #expect(server.requests.map(\.path) == ["/ok", "/gone"])
        }
    }

    @Test("T-B17, T-B18: a body has a limit") func aBodyHasALimit() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .answer(body: [UInt8](repeating: 65, count: 1_000)))
            let fits = OutboundRequest(url: server.base + "/a", maximumResponseSize: 1_000)
            let response = try await client.send(fits)
            #expect(response.body.count == 1_000)
            await #expect(throws: OutboundError.tooLarge) {
                try await client.send(OutboundRequest(url: server.base + "/a", maximumResponseSize: 999))
            }
            server.on("/a", .answer(body: [UInt8](repeating: 65, count: (1 << 20) + 1)))
            await #expect(throws: OutboundError.tooLarge) {
                try await client.send(OutboundRequest(url: server.base + "/a", maximumResponseSize: .max))
            }
            // Nobody said how long this one would be.
            let part = "3e8\r\n" + String(repeating: "A", count: 1_000) + "\r\n"
            server.on("/a", .stall("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + part))
            await #expect(throws: OutboundError.tooLarge) {
                try await client.send(OutboundRequest(url: server.base + "/a", maximumResponseSize: 999))
            }
        }
    }

    @Test("T-B18: a body that is coded, unasked, is not read") func aCodedBodyIsNotRead() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .json("{}", headers: [("content-encoding", "gzip")]))
            await #expect(throws: OutboundError.malformedResponse) {
                try await client.send(OutboundRequest(url: server.base + "/a"))
            }
        }
    }

    @Test("T-B17, T-B18: a body that never ends is cut off") func aBodyThatNeverEndsIsCutOff() async throws {
        var limits = OutboundLimits.patient
        limits.total = .milliseconds(300)
        try await ScriptedServer.withClient(limits: limits) { client, server in
            server.on("/a", .stall("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n"))
            await #expect(throws: OutboundError.timedOut) {
                try await client.send(OutboundRequest(url: server.base + "/a"))
            }
        }
    }

    @Test func aRequestMayBeShorterThanTheRest() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .stall())
            await #expect(throws: OutboundError.timedOut) {
                try await client.send(OutboundRequest(url: server.base + "/a", timeLimit: .milliseconds(100)))
            }
        }
    }

    @Test func aNameServerThatDoesNotAnswerIsNotWaitedFor() async throws {
        var limits = OutboundLimits.patient
        limits.connect = .milliseconds(100)
        let names = StalledNames()
        try await ScriptedServer.withClient(limits: limits, resolver: names.resolver) { client, _ in
            await #expect(throws: OutboundError.timedOut) {
                try await client.send(OutboundRequest(url: "https://slow.stalled.example/"))
            }
        }
        names.release()
    }

    @Test("T-E11: a host whose name server is silent stops no calls to others") func silentNameServer() async throws {
        let names = StalledNames()
        try await ScriptedServer.withClient(resolver: names.resolver) { client, server in
            server.on("/a", .json("{}"))
            await withTaskGroup(of: Void.self) { group in
                // One name many times, and many names of one project.
                for host in (0..<50).flatMap({ ["dead", "dead\($0)"] }) {
                    group.addTask {
                        await OutboundShare.$current.withValue("greedy") {
                            _ = try? await client.send(
                                OutboundRequest(url: "http://\(host).stalled.example:\(server.port)/a")
                            )
                        }
                    }
                }
                try? await waitUntil { names.lookups("dead.stalled.example") > 0 }
                for host in 0..<5 {
                    let url = "http://good\(host).example.invalid:\(server.port)/a"
                    let response = try? await client.send(OutboundRequest(url: url))
                    #expect(response?.status == 200)
                }
                #expect(names.lookups("dead.stalled.example") == 1)
                group.cancelAll()
                names.release()
            }
        }
    }

    @Test("T-F19: hosts that strangers name take none of their project's lookups") func strangersNames() async throws {
        let names = StalledNames()
        try await ScriptedServer.withClient(resolver: names.resolver) { client, server in
            server.on("/a", .json("{}"))
            await withTaskGroup(of: Void.self) { group in
                for host in 0..<20 {
                    group.addTask {
                        await OutboundShare.$current.withValue("project") {
                            var request = OutboundRequest(url: "https://dead\(host).stalled.example/a")
                            request.isForStranger = true
                            _ = try? await client.send(request)
                        }
                    }
                }
                // Those for whom there is no lookup left are told at once.
                for _ in 0..<20 - OutboundLimits.patient.lookupsPerShare { await group.next() }
                let response = await OutboundShare.$current.withValue("project") {
                    try? await client.send(OutboundRequest(url: "http://good.example.invalid:\(server.port)/a"))
                }
                #expect(response?.status == 200)
                group.cancelAll()
                names.release()
            }
        }
    }

    @Test("T-E11: a host is called at its last addresses while its name server is silent")
    func lastAddresses() async throws {
        var limits = OutboundLimits.patient
        limits.addressLifetime = .zero
        let names = StalledNames()
        try await ScriptedServer.withClient(limits: limits, resolver: names.resolver) { client, server in
            server.on("/a", .json("{}"))
            for isSilent in [false, true, true] {
                names.isSilent = isSilent
                let url = "http://good.example.invalid:\(server.port)/a"
                let response = try await client.send(OutboundRequest(url: url))
                #expect(response.status == 200)
            }
        }
        #expect(names.lookups("good.example.invalid") == 2)
        names.release()
    }

    @Test("T-E11: one project's calls leave another's room at the same host") func shares() async throws {
        let limits = OutboundLimits.patient
        let share = limits.requestsPerShare
        try #require(share * 4 <= limits.requestsPerHost)
        try await ScriptedServer.withClient { client, server in
            server.on("/slow", .stall())
            server.on("/fast", .json("{}"))
            let send = { @Sendable (share: String?, path: String) async -> Result<OutboundResponse, OutboundError> in
                await OutboundShare.$current.withValue(share) {
                    do throws(OutboundError) {
                        return .success(try await client.send(OutboundRequest(url: server.base + path)))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            await withTaskGroup(of: Result<OutboundResponse, OutboundError>.self) { group in
                for _ in 0..<share + 17 { group.addTask { await send("greedy", "/slow") } }
                // The host has the share's, the others are told at once.
                var busy = 0
                for await outcome in group {
                    guard case .failure(.busy) = outcome else { continue }
                    busy += 1
                    if busy == 17 { break }
                }
                #expect(busy == 17)
                try? await waitUntil { server.requests(to: "/slow").count == share }
                for share in ["other", nil] {
                    guard case .success = await send(share, "/fast") else {
                        Issue.record("\(share ?? "no share") had no room")
                        continue
                    }
                }
                guard case .failure(.busy) = await send("greedy", "/fast") else {
                    Issue.record("the greedy one had more than its share")
                    return
                }
                group.cancelAll()
            }
            // What has ended takes no share.
            try await waitUntil { if case .success = await send("greedy", "/fast") { true } else { false } }
        }
    }

    @Test("T-B18: a slow provider takes neither the connections nor the time of another") func isolation() async throws
    {
        var limits = OutboundLimits.patient
        limits.requestsPerHost = 8
        let resolver = AddressResolver.fixed("127.0.0.1")
        try await ScriptedServer.withClient(limits: limits, resolver: resolver) { client, server in
            server.on("/slow", .stall())
            server.on("/fast", .json("{}"))
            await withTaskGroup(of: Result<OutboundResponse, OutboundError>.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        do throws(OutboundError) {
                            return .success(
                                try await client.send(
                                    OutboundRequest(url: "http://slow.example.invalid:\(server.port)/slow")
                                )
                            )
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                // Eight wait, the others are told at once.
                var busy = 0
                for await outcome in group {
                    guard case .failure(.busy) = outcome else { continue }
                    busy += 1
                    if busy == 42 { break }
                }
                #expect(busy == 42)
                for _ in 0..<20 {
                    let url = "http://fast.example.invalid:\(server.port)/fast"
                    let response = try? await client.send(OutboundRequest(url: url))
                    #expect(response?.status == 200)
                }
                #expect(server.requests(to: "/slow").count <= 8)
                group.cancelAll()
            }
            server.on("/slow", .json("{}"))
            let again = try await client.send(
                OutboundRequest(url: "http://slow.example.invalid:\(server.port)/slow")
            )
            #expect(again.status == 200)
        }
    }

    @Test func forgetsTheHostsThatItKnewLongest() async throws {
        var limits = OutboundLimits.patient
        limits.hosts = 4
        let resolver = AddressResolver.fixed("127.0.0.1")
        try await ScriptedServer.withClient(limits: limits, resolver: resolver) { client, server in
            server.on("/a", .json("{}"))
            for round in 0..<3 {
                for host in 0..<10 {
                    let url = "http://h\(host).example.invalid:\(server.port)/a"
                    let response = try await client.send(OutboundRequest(url: url))
                    #expect(response.status == 200, "round \(round)")
                }
            }
        }
    }

    @Test func aCallerMayGiveUp() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .stall())
            let outcome = await withTaskGroup(of: OutboundError?.self) { group in
                group.addTask {
                    do throws(OutboundError) {
                        _ = try await client.send(OutboundRequest(url: server.base + "/a"))
                        return nil
                    } catch {
                        return error
                    }
                }
                group.cancelAll()
                return await group.next().flatMap(\.self)
            }
            #expect(outcome == .cancelled)
        }
    }

    @Test func aCertificateThatNobodyVouchesForIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let (key, certificate) = try await Self.certificate(in: folder)
            let server = ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www"]
            try await Program.with("/usr/bin/openssl", server) { program in
                let address = try await program.line(beginningWith: "ACCEPT ").dropFirst("ACCEPT ".count)
                let port = try #require(address.split(separator: ":").last)
                // The server answers whoever believes it.
                let believer = try await Program.run(
                    "/usr/bin/openssl",
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", certificate, "-verify_return_error"]
                )
                #expect(believer.output.contains("Verify return code: 0 (ok)"), "\(believer)")
                let client = OutboundClient(allowsLoopback: true)
                for host in ["localhost", "127.0.0.1"] {
                    await #expect(throws: OutboundError.unreachable) {
                        try await client.send(OutboundRequest(url: "https://\(host):\(port)/"))
                    }
                }
                await client.shutdown()
            }
        }
    }

    @Test("T-B17: TLS before 1.2 is not spoken") func refusesOldTLS() async throws {
        try await withTemporaryFolder { folder in
            let (key, certificate) = try await Self.certificate(in: folder)
            let server = ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www"]
            let old = ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]
            try await Program.with("/usr/bin/openssl", server + old) { program in
                let address = try await program.line(beginningWith: "ACCEPT ").dropFirst("ACCEPT ".count)
                let port = try #require(address.split(separator: ":").last)
                let client = OutboundClient(allowsLoopback: true)
                await #expect(throws: OutboundError.unreachable) {
                    try await client.send(OutboundRequest(url: "https://localhost:\(port)/"))
                }
                await client.shutdown()
                program.terminate()
                let result = await program.result()
                #expect(result.errors.contains("unsupported protocol"), "\(result)")
            }
        }
    }

    /// A new key and a certificate of it that nobody else signed.
    private static func certificate(in folder: String) async throws -> (key: String, certificate: String) {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let (key, certificate) = (folder + "/key.pem", folder + "/certificate.pem")
        let names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
        let made = try await Program.run(
            "/usr/bin/openssl",
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
                + ["-subj", "/CN=localhost", "-addext", names, "-keyout", key, "-out", certificate]
        )
        try #require(made.status == 0, "\(made)")
        return (key, certificate)
    }

    @Test func nothingLeavesAClosedClient() async throws {
        try await ScriptedServer.withClient { client, server in
            server.on("/a", .json("{}"))
            _ = try await client.send(OutboundRequest(url: server.base + "/a"))
            await client.shutdown()
            await #expect(throws: OutboundError.cancelled) {
                try await client.send(OutboundRequest(url: server.base + "/a"))
            }
        }
    }

    @Test func errorsSayNothingOfTheURL() {
        for error: OutboundError in [.invalidURL, .refusedAddress, .unreachable, .timedOut, .tooLarge, .busy] {
            #expect(!"\(error)".contains("://"))
        }
    }
}
