import Development
import Domain
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Limits: numbers of the deployment, of networks and of visitors", .database, .testProvider)
struct DeploymentLimitTests {
    private func options() throws -> TestService.Options {
        var options = try LimitScene.options()
        options.settings.phone.isEnabled = true
        options.settings.delivery.sms = SMSProvider(url: "https://sms.example", body: "to=%TO%&text=%TEXT%")
        var numbers = RateLimitSettings()
        numbers[.smsPerAddress].count = 3
        numbers[.mailsPerAddress].count = 3
        numbers[.flowsPerAddress].count = 1
        let school = try #require(DeploymentLimits.Network("198.18.64.0/24 smsPerAddress=6 signUpsPerAddress=101"))
        options.deploymentLimits = DeploymentLimits(numbers, networks: [school])
        return options
    }

    /// How many SMS an address gets.
    private func sms(_ service: TestService, from address: String, _ prefix: String) async throws -> Int {
        for number in 0..<10 {
            let body: JSON = ["phoneNumber": .string("+49155\(prefix)\(100 + number)")]
            let reply = try await service.call("accounts:sendVerificationCode", body, from: address)
            if reply.status != 200 {
                reply.expectRefused(LimitScene.blocked)
                return number
            }
        }
        return 10
    }

    @Test("the deployment's numbers count, and those of the network of an address before")
    func networks() async throws {
        try await TestService.run(options()) { service in
            #expect(try await sms(service, from: "198.18.65.1", "01") == 3)
            #expect(try await sms(service, from: "198.18.64.1", "02") == 6)
            #expect(try await sms(service, from: "198.18.64.2", "03") == 6, "each address of it")
            // A project narrows them for itself, and what it never set narrows nothing.
            try await service.limit(["smsPerAddress": ["count": 4]])
            #expect(try await sms(service, from: "198.18.64.3", "04") == 4)
            #expect(try await sms(service, from: "198.18.65.2", "05") == 3)
        }
    }

    @Test("T-E8: the networks of one /48 have eight times what one of them has, and twice as many SMS")
    func sites() async throws {
        try await TestService.run(options()) { service in
            var (sent, mailed): ([Int], [Int]) = ([], [])
            for network in 0..<9 {
                sent.append(try await sms(service, from: "2001:db8:5:\(network)::1", "1\(network)"))
                var count = 0
                for number in 0..<4 {
                    let address = "user\(network)\(number)@example.com"
                    let reply = try await service.askForReset(address, from: "2001:db8:5:\(network)::1")
                    count += reply.status == 200 ? 1 : 0
                }
                mailed.append(count)
            }
            #expect(sent == [Int](repeating: 3, count: 2) + [Int](repeating: 0, count: 7))
            #expect(mailed == [Int](repeating: 3, count: 8) + [0])
            let other = try await sms(service, from: "2001:db8:6::1", "19")
            #expect(other == 3)
        }
    }

    @Test("T-E8: the networks of one /48 begin eight times as many sign-ins at providers as one of them")
    func flowsOfSites() async throws {
        try await TestService.run(options()) { service in
            let tenant = try await TestProvider.tenant(.genericOIDC)
            tenant.addClient("client", secrets: ["secret"], redirects: .anyLocal)
            try await service.configure(tenant.configuration(as: "oidc.acme"))
            var answers: [Int] = []
            for network in 0..<9 {
                let reply = try await service.call(
                    "accounts:createAuthUri",
                    ["providerId": "oidc.acme", "continueUri": "http://localhost/callback"],
                    from: "2001:db8:7:\(network)::1"
                )
                answers.append(reply.status)
            }
            #expect(answers == [Int](repeating: 200, count: 8) + [400])
        }
    }

    @Test("a project's number that cannot act is refused by name; what is there stays")
    func idle() async throws {
        try await TestService.run(options()) { service in
            for limits in [
                ["smsPerAddress": ["count": 7]], ["smsPerAddress": ["count": 500, "seconds": 60]],
                ["mailsPerRecipient": ["count": 6]], ["mailsPerRecipient": ["seconds": 60]],
            ] as [JSON] {
                let name = limits.object?.keys.first ?? ""
                let reply = try await service.admin(
                    "config?updateMask=identity.rateLimits.\(name)",
                    ["identity": ["rateLimits": limits]],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(
                    reply.code == "INVALID_CONFIG" && reply.error?.contains("identity.rateLimits.\(name) ") == true,
                    "\(reply)"
                )
            }
            // Numbers that count in the project alone are the project's.
            try await service.limit(["passwordTries": ["count": 1_000], "smsPerProject": ["count": 1_000_000]])
            try await service.limit(["smsPerAddress": ["count": 5]])
            let config = try await service.admin("config", version: "v2")
            let again = try await service.admin("config", config.json, method: "PATCH", version: "v2")
            #expect(again.status == 200 && again["identity"] == config["identity"], "\(again)")
        }
    }

    @Test("Firebase's quota of sign-ups takes the limit's place for its time")
    func quota() async throws {
        var options = try options()
        var numbers = RateLimitSettings()
        numbers[.signUpsPerAddress].count = 2
        options.deploymentLimits = DeploymentLimits(numbers)
        try await TestService.run(options) { service in
            func signUps(from address: String) async throws -> Int {
                for number in 0..<8 {
                    let reply = try await service.signUp("u\(number)@\(address).example.com", from: address)
                    if reply.status != 200 { return number }
                }
                return 8
            }
            #expect(try await signUps(from: "198.18.66.1") == 2)
            let quota: JSON = ["quota": ["signUpQuotaConfig": ["quota": "5", "quotaDuration": "600s"]]]
            let set = try await service.admin(
                "config?updateMask=quota.signUpQuotaConfig",
                quota,
                method: "PATCH",
                version: "v2"
            )
            #expect(set["quota"] == quota["quota"], "\(set)")
            #expect(try await signUps(from: "198.18.66.2") == 5)
            service.clock.advance(by: 600)
            #expect(try await signUps(from: "198.18.66.3") == 2)
            for bad in [["quotaDuration": "an hour"], ["startTime": "tomorrow"], ["quota": "many"]] as [JSON] {
                let reply = try await service.admin(
                    "config?updateMask=quota.signUpQuotaConfig",
                    ["quota": ["signUpQuotaConfig": bad]],
                    method: "PATCH",
                    version: "v2"
                )
                #expect(reply.status == 400, "\(reply)")
            }
        }
    }

    @Test("visitors behind a server that renders pages are told apart by the address for which a back end vouches")
    func visitors() async throws {
        try await LimitScene.run { service in
            _ = try await service.signUp("ada@example.com", from: "198.18.67.9")
            let (_, token) = try await service.stores.configuration.createAdminCredential(
                name: "server",
                project: service.project.id,
                scopes: [.manageAccounts],
                expiresAt: nil
            )
            func signIn(_ password: String, _ headers: [(String, String)], key: Bool = true) async throws -> Reply {
                var body: [String: JSON] = ["email": "ada@example.com", "password": .string(password)]
                if !key { body["targetProjectId"] = .string(service.project.id.rawValue) }
                return try await service.send(
                    "POST",
                    "/v1/accounts:signInWithPassword" + (key ? "?key=\(service.apiKey)" : ""),
                    headers: headers + [("Content-Type", "application/json")],
                    body: Array(JSON.object(body).text.utf8)
                )
            }
            func vouching(_ address: String) -> [(String, String)] {
                [("Authorization", "Bearer \(token.reveal())"), ("Identity-Client-Address", address)]
            }
            for key in [true, false] {
                let mine = key ? "198.18.67.1" : "198.18.67.2"
                for _ in 0..<10 {
                    try await signIn("wrong", vouching(mine), key: key).expectRefused("INVALID_LOGIN_CREDENTIALS")
                }
                try await signIn("correct horse", vouching(mine), key: key).expectRefused(LimitScene.locked)
            }
            let other = try await signIn("correct horse", vouching("198.18.67.3"))
            other.expectOK()
            let sessions = try await service.call("accounts:listSessions", ["idToken": JSON(other.idToken)])
            #expect(
                sessions["sessions"]?.array?.contains { $0["addressPrefix"] == "198.18.67.0/24" } == true,
                "\(sessions)"
            )

            // Without a credential of the project, the header would be anyone's.
            let bare = try await signIn("correct horse", [("Identity-Client-Address", "198.18.67.4")])
            #expect(bare.status == 400 && bare.error?.contains("Identity-Client-Address needs") == true, "\(bare)")
            let (_, foreign) = try await service.stores.configuration.createAdminCredential(
                name: "reader",
                project: service.project.id,
                scopes: [.readAccounts],
                expiresAt: nil
            )
            for bearer in [foreign.reveal(), "invented"] {
                let headers = [("Authorization", "Bearer \(bearer)"), ("Identity-Client-Address", "198.18.67.4")]
                let reply = try await signIn("correct horse", headers)
                #expect([401, 403].contains(reply.status), "\(reply)")
            }
            for address in ["", "example.com", "198.18.67.4, 198.18.67.5", "198.18.67.0/24", "198.18.67.4:80"] {
                let reply = try await signIn("correct horse", vouching(address))
                #expect(reply.status == 400 && reply.error?.contains("one IP address") == true, "\(address): \(reply)")
            }
            let admin = try await service.send(
                "GET",
                "/v1/projects/\(service.project.id)/accounts:batchGet",
                headers: vouching("198.18.67.4")
            )
            #expect(admin.status == 400 && admin.error?.contains("end users") == true, "\(admin)")
        }
    }

    @Test("T-E8: the addresses for which a project's back end vouches use up nothing of other projects")
    func vouchedElsewhere() async throws {
        try await TestService.run(options()) { first in
            try await TestService.run(options()) { second in
                for number in 0..<4 {
                    let body: JSON = ["phoneNumber": .string("+4915507\(100 + number)")]
                    let reply = try await first.call(
                        "accounts:sendVerificationCode",
                        body,
                        headers: [
                            ("Authorization", "Bearer \(first.adminToken)"), ("Identity-Client-Address", "198.18.68.1"),
                        ]
                    )
                    #expect((reply.status == 200) == (number < 3), "\(reply)")
                }
                #expect(try await sms(second, from: "198.18.68.1", "08") == 3)
            }
        }
    }
}
