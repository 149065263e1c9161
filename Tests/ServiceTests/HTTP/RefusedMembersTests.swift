import HTTPTypes
import IdentityService
import StrictJSON
import TestKit
import Testing

/// Members that an operation would not act on although their sender expects it.
@Suite("Refused members of requests")
struct RefusedMembersTests {
    private let fixture: ServiceFixture

    init() throws { fixture = try ServiceFixture() }

    /// Operation, caller, member, answer; those of `accounts:update` by a user are in ``RequestBodyTests``.
    private static let rows = """
        /v1/accounts:signUp user localId UNEXPECTED_PARAMETER : User ID
        /v1/accounts:signUp user disabled INSUFFICIENT_PERMISSION
        /v1/accounts:signUp user emailVerified INSUFFICIENT_PERMISSION
        /v1/accounts:signUp user phoneNumber INSUFFICIENT_PERMISSION
        /v1/accounts:signUp admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/projects/{project}/accounts admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:update admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:update admin oobCode UNEXPECTED_PARAMETER : oobCode
        /v1/accounts:update admin provider INVALID_REQ_TYPE : Unsupported request parameters.
        /v1/accounts:update admin upgradeToFederatedLogin INVALID_REQ_TYPE : Unsupported request parameters.
        /v1/projects/{project}/accounts:update admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/projects/{project}/accounts:update admin oobCode UNEXPECTED_PARAMETER : oobCode
        /v1/projects/{project}/accounts:update admin provider INVALID_REQ_TYPE : Unsupported request parameters.
        /v1/projects/{project}/accounts:update admin upgradeToFederatedLogin INVALID_REQ_TYPE : Unsupported request \
        parameters.
        /v1/accounts:lookup user localId INSUFFICIENT_PERMISSION
        /v1/accounts:lookup user email INSUFFICIENT_PERMISSION
        /v1/accounts:lookup user phoneNumber INSUFFICIENT_PERMISSION
        /v1/accounts:lookup user federatedUserId INSUFFICIENT_PERMISSION
        /v1/accounts:lookup user initialEmail INSUFFICIENT_PERMISSION
        /v1/accounts:lookup admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/projects/{project}/accounts:lookup admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:delete admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/projects/{project}/accounts:delete admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:signOut user localId INSUFFICIENT_PERMISSION
        /v1/projects/{project}/accounts:signOut admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:listSessions user localId INSUFFICIENT_PERMISSION
        /v1/projects/{project}/accounts:listSessions admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:providerToken user localId INSUFFICIENT_PERMISSION
        /v1/projects/{project}/accounts:providerToken admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:credentialState user localId INSUFFICIENT_PERMISSION
        /v1/projects/{project}/accounts:credentialState admin idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:signInWithIdp user pendingIdToken UNEXPECTED_PARAMETER : pendingIdToken
        /v1/accounts:signInWithPassword user idToken UNEXPECTED_PARAMETER : idToken
        /v1/accounts:signInWithPassword user pendingIdToken UNEXPECTED_PARAMETER : pendingIdToken
        /v1/accounts:signInWithPhoneNumber user verificationProof UNEXPECTED_PARAMETER : verificationProof
        /v2/accounts/mfaEnrollment:finalize user phoneVerificationInfo.androidVerificationProof \
        UNEXPECTED_PARAMETER : phoneVerificationInfo.androidVerificationProof
        /v2/accounts/mfaSignIn:finalize user phoneVerificationInfo.androidVerificationProof \
        UNEXPECTED_PARAMETER : phoneVerificationInfo.androidVerificationProof
        """.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 3).map { String($0) } }

    @Test("each is answered by name, on every path of its operation; an empty text is absent")
    func refuses() async throws {
        var declared: Set<[String]> = []
        for route in fixture.assembly.responder.table.routes {
            let isClients = if case .client = route.access { true } else { false }
            let legacy = route.legacy.map { "/identitytoolkit/v3/relyingparty/\($0)" }
            for (caller, members) in [("user", route.refused.ofClients), ("admin", route.refused.ofAdmins)] {
                var headers = HTTPFields()
                if caller == "admin" { headers[.authorization] = "Bearer \(ServiceFixture.adminToken)" }
                for member in members {
                    // What only the other kind of caller could send.
                    if caller == "admin" && isClients, case .client(nil, _) = route.access { continue }
                    if caller == "user" && !isClients { continue }
                    declared.insert([route.path, caller, member.path, member.error.message])
                    for path in [route.path, legacy].compactMap(\.self) {
                        let url =
                            path.replacing("{project}", with: "demo-project")
                            + (isClients ? "?key=\(ServiceFixture.key)" : "")
                        let answer = try await fixture.client.post(url, body(member.path, #""x""#), headers: headers)
                        #expect(answer.message == member.error.message, "\(caller) \(url) \(member.path): \(answer)")
                        for nothing in [#""""#, "false", "0", "[]", "null"] {
                            let empty = try await fixture.client.post(url, body(member.path, nothing), headers: headers)
                            #expect(
                                empty.message != member.error.message,
                                "\(caller) \(url) \(member.path) \(nothing): \(empty)"
                            )
                        }
                    }
                }
            }
        }
        #expect(declared == Set(Self.rows))
    }

    private func body(_ path: String, _ value: String) -> String {
        let names = path.split(separator: ".")
        return names.reversed().reduce(value) { #"{"\#($1)":\#($0)}"# }
    }

    @Test("T-D13: an admin's request that names another project than its path or its key is refused")
    func otherProject() async throws {
        let headers: HTTPFields = [.authorization: "Bearer \(ServiceFixture.adminToken)"]
        var seen = 0
        for route in fixture.assembly.responder.table.routes where route.method == .post {
            let path =
                switch route.access {
                case .client(.some, _): "\(route.path)?key=\(ServiceFixture.key)"
                case .admin where route.path.contains("{project}"):
                    route.path.replacing("{project}", with: "demo-project")
                case .admin: "\(route.path)?key=\(ServiceFixture.key)"
                default: ""
                }
            guard !path.isEmpty else { continue }
            seen += 1
            let other = #"{"targetProjectId":"other-project"}"#
            let answer = try await fixture.client.post(path, other, headers: headers)
            #expect(answer.message == "INSUFFICIENT_PERMISSION", "\(path): \(answer)")
            for own in [#"{"targetProjectId":"demo-project"}"#, #"{"targetProjectId":"123456789012"}"#] {
                let answer = try await fixture.client.post(path, own, headers: headers)
                #expect(answer.message != "INSUFFICIENT_PERMISSION", "\(path): \(answer)")
            }
        }
        #expect(seen > 20)
    }

    /// The file has the members of Google's discovery documents (v1 of 2026-10-26, v2 of 2025-01-30).
    @Test("every member that Google documents is in openapi.yaml, is refused, or is listed as without effect")
    func googleMembers() throws {
        let guide = try Repository.text("docs/guide/firebase-sdks.md")
        let part = try #require(guide.split(separator: "Members of requests that SDKs send").last)
        let lists = try #require(part.split(separator: "There are three ways").first).split(separator: "\n")
            .map { $0.hasPrefix("| ") ? $0.split(separator: " | ").first ?? "" : $0 }
        let listed = Set(lists.flatMap { $0.matches(of: #/`(\w+)`/#).map { String($0.1) } })
        let document = try OpenAPIDocument.ofRepository()
        let lines = try Repository.text("Tests/ServiceTests/Wire/google-members.tsv").split(separator: "\n")
        #expect(lines.count > 20)
        for line in lines {
            let columns = line.split(separator: "\t")
            let path = String(columns[0])
            let operation = try #require(document.operation("POST", path.replacing("{project}", with: "p")), "\(path)")
            let route = try #require(fixture.assembly.responder.table.routes.first { $0.path == path }, "\(path)")
            let refused = route.refused.ofClients + route.refused.ofAdmins
            var known = listed.union(document.requestMembers(of: operation)).union(refused.map(\.path))
            // A client's operation with an admin's credential is the admin's.
            if let admin = document.operation("POST", path.replacing("/v1/", with: "/v1/projects/p/")) {
                known.formUnion(document.requestMembers(of: admin))
            }
            let unknown = columns[1].split(separator: " ").map { String($0) }
                .filter { !known.contains($0) && $0 != "targetProjectId" }
            #expect(unknown.isEmpty, "\(path): \(unknown)")
        }
    }
}
