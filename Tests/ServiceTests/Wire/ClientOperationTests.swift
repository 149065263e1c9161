import Federation
import IdentityService
import Projects
import TestKit
import Testing

/// What every client operation keeps (reference: decoding of requests, encoding of answers).
@Suite("Every client operation", .database)
struct ClientOperationTests {
    private static func run(_ body: @Sendable (TestService) async throws -> Void) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options, body)
    }

    private static func send(
        _ call: ExampleCall,
        at path: String? = nil,
        _ service: TestService,
        write: (JSON) -> String = \.text
    ) async throws -> Reply {
        var body: String?
        if let make = call.body { body = write(try await make(service)) }
        return try await service.send(
            call.method,
            "\(path ?? call.path)?key=\(service.apiKey)",
            headers: body == nil ? [] : [("Content-Type", "application/json")],
            body: body.map { Array($0.utf8) }
        )
    }

    private static func paths(_ service: TestService) -> Set<String> {
        let routes = service.assembly.responder.table.routes.filter {
            if case .client = $0.access { true } else { false }
        }
        return Set(routes.map(\.path))
    }

    /// The examples of what is served.
    private static func examples(_ service: TestService) -> [ExampleCall] {
        let paths = paths(service)
        return ExampleCall.all.filter { paths.contains($0.path) }
    }

    private static func example(_ path: String) throws -> ExampleCall {
        try #require(ExampleCall.all.first { $0.path == path })
    }

    /// The names of all members, however deep.
    private static func names(_ json: JSON, _ path: String = "$") -> Set<String> {
        switch json {
        case .object(let members):
            members.reduce(into: []) { names, member in
                names.insert("\(path).\(member.key)")
                names.formUnion(Self.names(member.value, "\(path).\(member.key)"))
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(names($1, "\(path)[]")) }
        default: []
        }
    }

    private static func snakeCase(_ name: String) -> String {
        name.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
    }

    @Test("has an example here")
    func everyOperationHasAnExample() async throws {
        try await Self.run { service in
            let examples = Set(ExampleCall.all.map(\.path))
            #expect(Self.paths(service).subtracting(examples).sorted() == [])
        }
    }

    @Test("takes names in snake_case, nulls for what is absent, and members that it does not know")
    func takesEverySpelling() async throws {
        let document = try OpenAPIDocument.ofRepository()
        try await Self.run { service in
            for call in Self.examples(service) where call.body != nil {
                let plain = try await Self.send(call, service)
                #expect(plain.status == call.status, "\(call.path): \(plain)")
                let names = Self.names(plain.json)
                let snake = try await Self.send(call, service) { body in
                    JSON.object(body.object.map { Dictionary($0.map { (Self.snakeCase($0), $1) }) { $1 } } ?? [:]).text
                }
                #expect(snake.status == call.status && Self.names(snake.json) == names, "\(call.path): \(snake)")
                let known = document.requestMembers(of: .init(method: "POST", path: call.path))
                #expect(!known.isEmpty, "\(call.path)")
                let nulls = try await Self.send(call, service) { body in
                    let absent = known.filter { body[$0] == nil } + ["somethingNew"]
                    let unknown = #""somethingElse":{"a":[1,null]},"clientType":7"#
                    return "{" + absent.map { "\"\($0)\":null," }.joined() + unknown + "," + body.text.dropFirst()
                }
                #expect(nulls.status == call.status && Self.names(nulls.json) == names, "\(call.path): \(nulls)")
            }
        }
    }

    @Test("answers at its path of v3 as at its own, with and without the host in front")
    func answersAsV3() async throws {
        try await Self.run { service in
            for route in service.assembly.responder.table.routes {
                guard case .client = route.access, let legacy = route.legacyPath else { continue }
                let call = try Self.example(route.path)
                let names = Self.names(try await Self.send(call, service).json)
                for path in [legacy, "/www.googleapis.com\(legacy)", "/identitytoolkit.googleapis.com\(call.path)"] {
                    let reply = try await Self.send(call, at: path, service)
                    #expect(reply.status == call.status && Self.names(reply.json) == names, "\(path): \(reply)")
                }
            }
        }
    }

    // MARK: Answers

    /// Members that SDKs test for by their presence, and those whose type they rely on.
    private static func problems(_ json: JSON, _ path: String = "$") -> [String] {
        let marks = ["needConfirmation", "errorMessage", "mfaPendingCredential"]
        let strings = [
            "expiresIn", "expires_in", "createdAt", "lastLoginAt", "validSince", "lastUsedAt", "projectId",
            "project_id",
            "temporaryProofExpiresIn", "lastRefreshAt", "enrolledAt",
        ]
        let numbers = ["passwordUpdatedAt", "oauthExpireIn", "code", "schemaVersion"]
        switch json {
        case .null: return ["\(path) is null"]
        case .array(let elements): return elements.flatMap { problems($0, "\(path)[]") }
        case .object(let members):
            return members.flatMap { name, value in
                var found = problems(value, "\(path).\(name)")
                if marks.contains(name), [.bool(false), "", .null].contains(value) {
                    found.append("\(name) says nothing")
                }
                if strings.contains(name), value.string == nil { found.append("\(name) is no string") }
                if numbers.contains(name), value.number == nil { found.append("\(name) is no number") }
                return found
            }
        default: return []
        }
    }

    @Test("answers with the types that SDKs rely on, without null, for every origin, and nobody keeps tokens")
    func answersCleanly() async throws {
        try await Self.run { service in
            for call in Self.examples(service) {
                let reply = try await Self.send(call, service)
                #expect(Self.problems(reply.json) == [], "\(call.path): \(reply)")
                for mark in ["needConfirmation", "errorMessage", "mfaPendingCredential"] {
                    #expect(reply[mark] == nil, "\(call.path): \(reply)")
                }
                #expect(reply.response.header("content-type") == "application/json; charset=utf-8", "\(call.path)")
                #expect(reply.response.header("access-control-allow-origin") == "*", "\(call.path)")
                if reply.idToken != nil, call.path != "/v1/accounts:lookup" {
                    #expect(reply.response.header("cache-control") == "no-store", "\(call.path)")
                    #expect(reply.refreshToken != nil, "\(call.path)")
                    #expect((reply["expiresIn"] ?? reply["expires_in"])?.string == "3600", "\(call.path)")
                }
            }
        }
    }

    @Test("refuses in the envelope of its part of the API, for every origin, without null")
    func refusesCleanly() async throws {
        try await Self.run { service in
            for call in Self.examples(service) {
                // In `dev` any key is good.
                let noKey = try await service.send(
                    call.method,
                    call.path,
                    body: call.body.map { _ in Array("{}".utf8) }
                )
                #expect(noKey.status == 403, "\(call.path)")
                var replies = [noKey]
                if call.body != nil {
                    let key = "?key=\(service.apiKey)"
                    // It reads no member but the tenant's.
                    let readsMembers = call.path != "/v2/accounts/passkeySignIn:start"
                    for text in [
                        "{", "[]", #"{"idToken":1,"email":1,"token":1,"grantType":1,"oobCode":1,"requestUri":1}"#,
                        #"{"idToken":"x","grantType":"x"}"#,
                    ].prefix(readsMembers ? 4 : 2) {
                        replies.append(try await service.post(call.path + key, text: text))
                    }
                    for reply in replies.dropFirst() { #expect(reply.status == 400, "\(call.path): \(reply)") }
                }
                for reply in replies {
                    let hasStatus = call.path.hasPrefix("/v2/") || call.path == "/v1/token"
                    let error = try #require(reply.json["error"], "\(call.path)")
                    #expect(error["code"]?.number == Double(reply.status), "\(call.path): \(reply)")
                    #expect((error["errors"] == nil) == hasStatus, "\(call.path): \(reply)")
                    #expect(error["status"] != nil || !hasStatus, "\(call.path): \(reply)")
                    #expect(Self.problems(reply.json) == [], "\(call.path): \(reply)")
                    #expect(reply.response.header("access-control-allow-origin") == "*", "\(call.path)")
                }
            }
        }
    }

    // MARK: Values

    @Test("takes enum values by name, number and digits, and 64-bit integers as numbers and digits")
    func takesValues() async throws {
        try await Self.run { service in
            func reply(_ path: String, changing name: String, to value: JSON) async throws -> Reply {
                try await Self.send(Self.example(path), service) { body in
                    JSON.object((body.object ?? [:]).merging([name: value]) { $1 }).text
                }
            }
            for value in ["PASSWORD_RESET", 1, "1"] as [JSON] {
                let sent = try await reply("/v1/accounts:sendOobCode", changing: "requestType", to: value)
                sent.expectOK()
            }
            for value in ["others", 1, "1"] as [JSON] {
                try await reply("/v1/accounts:signOut", changing: "scope", to: value).expectOK()
            }
            for value in ["CODE", 3, "3"] as [JSON] {
                let revoked = try await reply("/v2/accounts:revokeToken", changing: "tokenType", to: value)
                #expect(revoked.code == "INVALID_PROVIDER_ID", "\(revoked)")
            }
            for value in [["PHOTO_URL"], [4], ["4"]] as [JSON] {
                let updated = try await reply("/v1/accounts:update", changing: "deleteAttribute", to: value)
                updated.expectOK()
            }
            for value in [1_790_000_000, "1790000000"] as [JSON] {
                try await reply("/v1/accounts:update", changing: "validSince", to: value).expectOK()
            }
            for value in ["soon", .number(1.5), "+1", true] as [JSON] {
                let refused = try await reply("/v1/accounts:update", changing: "validSince", to: value)
                #expect(refused.error?.contains("(TYPE_INT64)") == true, "\(refused)")
            }
        }
    }
}
