import Projects
import TestKit
import Testing

/// What of a request counts: nothing that an operation does not know is taken for something else, or for nothing.
@Suite("What of a request is read", .database)
struct RequestReadingTests {
    // MARK: Query parameters

    @Test(
        "an unknown query parameter is refused, and nothing is changed",
        arguments: [
            ("PATCH", "/v2/projects/{p}/config?updatemask=authorizedDomains"),
            ("PATCH", "/v2/projects/{p}/config?update_masks=authorizedDomains"),
            ("PATCH", "/v2/projects/{p}/config?updateMask=authorizedDomains&update_mask=signIn"),
            ("PATCH", "/v2/projects/{p}/config?updateMask=authorizedDomains&updateMask=authorizedDomains"),
            ("PATCH", "/v2/projects/{p}/config?updateMask=authorizedDomains&alt=media"),
            ("PATCH", "/v2/projects/{p}/config?updateMask=authorizedDomains&alt=json&alt=json"),
            ("PATCH", "/v2/projects/{p}/passkeyConfig?mask=rpId"), ("GET", "/v2/projects/{p}/config?updateMask=signIn"),
            ("GET", "/v2/projects/{p}/tenants?pagesize=1"), ("GET", "/v2/projects/{p}/tenants?page=1"),
            ("GET", "/v1/projects/{p}/accounts:batchGet?pageSize=1"), ("GET", "/v1/projects/{p}/revocations?after=x"),
            ("POST", "/v1/projects/{p}/accounts?localId=ada"), ("POST", "/v1/projects/{p}/accounts:lookup?localId=ada"),
            ("POST", "/v2/projects/{p}/oauthIdpConfigs?idpId=oidc.x"),
            ("GET", "/v1/projects/{p}/auditEntries?user=ada"),
        ]
    )
    func unknown(_ method: String, _ path: String) async throws {
        try await TestService.run { service in
            let config = try await service.admin("config", version: "v2").json
            func send(_ path: String) async throws -> Reply {
                try await service.send(
                    method,
                    path.replacing("{p}", with: service.project.id.rawValue),
                    headers: [("Authorization", "Bearer \(service.adminToken)"), ("Content-Type", "application/json")],
                    body: method == "GET" ? nil : Array(#"{"authorizedDomains":["a.example"],"rpId":"b.example"}"#.utf8)
                )
            }
            let reply = try await send(path)
            #expect(reply.status == 400, "\(reply)")
            #expect(try await service.admin("config", version: "v2").json == config)
        }
    }

    @Test("Google's standard parameters are taken, in either mode of an operation; a page takes any")
    func standard() async throws {
        try await TestService.run { service in
            let all =
                "alt=json&fields=*&prettyPrint=false&quotaUser=u&userProject=p&access_token=t&oauth_token=t&callback=c"
                + "&uploadType=media&upload_protocol=raw&%24.xgafv=2&$alt=json"
            let reply = try await service.post("/v1/accounts:signUp?key=\(service.apiKey)&\(all)", text: "{}")
            reply.expectOK()
            let admin = try await service.admin(
                "config?\(all)&update_mask=authorizedDomains",
                [:],
                method: "PATCH",
                version: "v2"
            )
            admin.expectOK()
            let token = try await service.send(
                "GET",
                "/v2/projects/\(service.project.id)/config?access_token=\(service.adminToken)"
            )
            #expect(token.status == 401 || token.status == 403, "a token in the URL is no credential: \(token)")
            let page = try await service.send("GET", "/__/auth/action?mode=x&utm_source=mail")
            #expect(page.status != 404 && !"\(page)".contains("Unknown name"), "\(page)")
        }
    }

    // MARK: Forms, and one value for a list

    @Test("a form is read as the JSON that it stands for: many small programs send one")
    func forms() async throws {
        try await TestService.run { service in
            func send(
                _ operation: String,
                _ form: String,
                type: String = "application/x-www-form-urlencoded"
            ) async throws
                -> Reply
            {
                try await service.send(
                    "POST",
                    "/v1/accounts:\(operation)?key=\(service.apiKey)",
                    headers: [("Content-Type", type)],
                    body: Array(form.utf8)
                )
            }
            let up = try await send("signUp", "email=ada%40example.com&password=correct+horse&returnSecureToken=True")
            #expect(up.status == 200 && up["email"] == "ada@example.com", "\(up)")
            try await service.signInWithPassword("ada@example.com").expectOK()
            let v3 = try await service.send(
                "POST",
                "/identitytoolkit/v3/relyingparty/verifyPassword?key=\(service.apiKey)",
                headers: [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")],
                body: Array("email=ada@example.com&password=correct%20horse&returnSecureToken=true".utf8)
            )
            #expect(v3.status == 200 && v3.idToken != nil, "\(v3)")
            // What is JSON stays JSON, whatever curl calls it.
            let json = #" {"email":"ada@example.com","password":"correct horse"}"#
            try await send("signInWithPassword", json).expectOK()
            for bad in ["email=a&email=b", "email=%zz", "email=%00"] {
                let reply = try await send("signUp", bad)
                #expect(reply.status == 400 && reply["error"]?["status"] == "INVALID_ARGUMENT", "\(reply)")
            }
            let flag = try await send("signUp", "email=b%40example.com&password=secret1&disabled=maybe")
            #expect(flag.status == 400, "\(flag)")
            #expect(
                try await send("signUp", "email=b@example.com", type: "text/plain").status == 400,
                "not called a form"
            )
        }
    }

    @Test("one value for a list is a list of one")
    func lists() async throws {
        try await TestService.run { service in
            let ada = try await service.signUp("ada@example.com")
            let query: JSON = ["returnUserInfo": true, "expression": ["email": "ada@example.com"]]
            #expect(try await service.admin("accounts:query", query)["userInfo"]?.array?.count == 1)
            let found = try await service.admin("accounts:lookup", ["localId": JSON(ada.localID)])
            #expect(found["users"]?[0]?["email"] == "ada@example.com", "\(found)")
            let removed: JSON = ["localId": JSON(ada.localID), "deleteProvider": "password"]
            try await service.admin("accounts:update", removed).expectOK()
            #expect(try await service.account(ada.localID)?.providers == [])
            let wrong = try await service.admin("accounts:lookup", ["localId": 1])
            #expect(wrong.error?.contains("TYPE_STRING") == true, "\(wrong)")
        }
    }

    // MARK: Empty texts

    @Test("an empty text is absent, as in proto3")
    func emptyTexts() async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let google = "providerId=google.com&id_token=%7B%22sub%22%3A%22e1%22%7D"
            let bodies: [(String, JSON)] = [
                ("signUp", ["email": "a@example.com", "password": "secret1", "localId": ""]),
                ("signUp", ["email": "b@example.com", "password": "secret1", "idToken": ""]),
                ("signInWithIdp", ["pendingToken": "", "postBody": .string(google), "requestUri": "http://localhost"]),
                ("signInWithIdp", ["idToken": "", "postBody": .string(google), "requestUri": "http://localhost"]),
                ("signInWithIdp", ["sessionId": "", "postBody": .string(google), "requestUri": "http://localhost"]),
                ("signInWithPassword", ["email": "a@example.com", "password": "secret1", "tenantId": ""]),
                ("sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@example.com", "continueUrl": ""]),
                ("sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@example.com", "linkDomain": ""]),
                ("signUp", ["targetProjectId": ""]),
            ]
            for (operation, body) in bodies {
                let reply = try await service.call("accounts:\(operation)", body)
                #expect(reply.status == 200, "\(operation) \(body.text): \(reply)")
            }
        }
    }

    // MARK: Codes of emails

    @Test("a link has the domain that was asked for, if it is one of the project's; any other is refused by its name")
    func linkDomain() async throws {
        var options = TestService.Options()
        options.settings.authorizedDomains = ["localhost", "127.0.0.1", "links.example.com"]
        try await TestService.run(options) { service in
            _ = try await service.signUp("ada@example.com")
            func link(_ more: [String: JSON]) async throws -> Reply {
                let body: [String: JSON] = ["requestType": "PASSWORD_RESET", "email": "ada@example.com"]
                return try await service.admin(
                    "accounts:sendOobCode",
                    .object(body.merging(["returnOobLink": true]) { $1 }.merging(more) { $1 })
                )
            }
            for domain in ["links.example.com", "Links.Example.com"] {
                let good = try await link(["linkDomain": .string(domain)])
                #expect(
                    good["oobLink"]?.string?.hasPrefix("https://links.example.com/__/auth/action?") == true,
                    "\(good)"
                )
            }
            for domain in [
                "x.example", "localhost", "127.0.0.1", "b1.links.example.com", "a@links.example.com",
                "links.example.com:8443",
                "links.example.com/x", "links.example.com?x", "links.example.com#x", "https://links.example.com",
                "links.example.com.evil.example", " links.example.com", "links.example.com\\@evil.example",
            ] {
                let refused = try await link(["linkDomain": .string(domain)])
                #expect(refused.code == "INVALID_HOSTING_LINK_DOMAIN", "\(domain): \(refused)")
                let mail = try await service.call(
                    "accounts:sendOobCode",
                    ["requestType": "PASSWORD_RESET", "email": "ada@example.com", "linkDomain": .string(domain)]
                )
                #expect(mail.code == "INVALID_HOSTING_LINK_DOMAIN", "\(domain): \(mail)")
            }
        }
    }

    @Test("where continue URLs are listed, a link's domain is that of one of them")
    func linkDomainOfPages() async throws {
        var options = TestService.Options()
        options.settings.authorizedDomains = ["links.example.com", "old.example.com", "app.example.com"]
        options.settings.continueURLs = ["https://links.example.com/done", "https://app.example.com:8443/"]
        try await TestService.run(options) { service in
            _ = try await service.signUp("ada@example.com")
            for (domain, error) in [
                ("links.example.com", nil), ("old.example.com", "INVALID_HOSTING_LINK_DOMAIN"),
                ("app.example.com", "INVALID_HOSTING_LINK_DOMAIN"),
            ] as [(String, String?)] {
                let reply = try await service.admin(
                    "accounts:sendOobCode",
                    [
                        "requestType": "PASSWORD_RESET", "email": "ada@example.com", "returnOobLink": true,
                        "linkDomain": .string(domain),
                    ]
                )
                #expect(reply.code == error, "\(domain): \(reply)")
            }
        }
    }

    @Test("a code beside an ID token is applied, and nothing can be changed beside it")
    func codeBesideToken() async throws {
        try await TestService.run { service in
            let ada = try await service.signUp("ada@example.com")
            let sent = try await service.admin(
                "accounts:sendOobCode",
                ["requestType": "VERIFY_EMAIL", "email": "ada@example.com", "returnOobLink": true]
            )
            let body: [String: JSON] = ["idToken": JSON(ada.idToken), "oobCode": sent["oobCode"] ?? .null]
            let both = try await service.call(
                "accounts:update",
                .object(body.merging(["displayName": "Ada"]) { $1 })
            )
            #expect(both.error?.hasPrefix("UNEXPECTED_PARAMETER : displayName") == true, "\(both)")
            let eve = try await service.signUp("eve@example.com")
            for (token, error) in [(eve.idToken, "INVALID_OOB_CODE"), ("x", "INVALID_ID_TOKEN")] {
                let other = try await service.call(
                    "accounts:update",
                    .object(body.merging(["idToken": JSON(token)]) { $1 })
                )
                #expect(other.code == error, "\(other)")
            }
            let reply = try await service.call("accounts:update", .object(body))
            #expect(reply.status == 200 && reply["emailVerified"] == true, "\(reply)")
            #expect(try await service.account(ada.localID)?["emailVerified"] == true)
        }
    }

    @Test("a mail's request says nothing that its type does not use, and no other account's address")
    func besideARequestType() async throws {
        try await TestService.run { service in
            let ada = try await service.signUp("ada@example.com")
            _ = try await service.signUp("eve@example.com")
            func send(_ type: String, _ more: [String: JSON]) async throws -> Reply {
                try await service.call(
                    "accounts:sendOobCode",
                    .object(["requestType": JSON(type)].merging(more) { $1 })
                )
            }
            let address: JSON = "ada@example.com"
            for type in ["PASSWORD_RESET", "EMAIL_SIGNIN"] {
                let page: JSON = "https://\(service.project.id).firebaseapp.com/"
                for name in ["idToken", "newEmail"] {
                    let value: JSON = name == "idToken" ? JSON(ada.idToken) : "new@example.com"
                    let reply = try await send(type, ["email": address, "continueUrl": page, name: value])
                    #expect(reply.error == "UNEXPECTED_PARAMETER : \(name)", "\(reply)")
                }
            }
            let token = JSON(ada.idToken)
            let verify = try await send("VERIFY_EMAIL", ["idToken": token, "newEmail": "new@example.com"])
            #expect(verify.error == "UNEXPECTED_PARAMETER : newEmail", "\(verify)")
            for email in ["eve@example.com", "x"] {
                let reply = try await send("VERIFY_EMAIL", ["idToken": token, "email": .string(email)])
                #expect(reply.error == "UNEXPECTED_PARAMETER : email", "\(reply)")
            }
            try await send("VERIFY_EMAIL", ["idToken": token, "email": "Ada@Example.com"]).expectOK()
        }
    }

    @Test("a user's sign-up keeps the picture; a deletion may name its own account, and no other")
    func ownMembers() async throws {
        try await TestService.run { service in
            let picture: JSON = "https://example.com/a.png"
            let ada = try await service.call(
                "accounts:signUp",
                ["email": "ada@example.com", "password": "correct horse", "photoUrl": picture]
            )
            #expect(try await service.account(ada.localID)?["photoUrl"] == picture)
            let guest = try await service.call("accounts:signUp", ["photoUrl": picture])
            #expect(try await service.account(guest.localID)?["photoUrl"] == picture)
            let moved: JSON = [
                "idToken": JSON(guest.idToken), "email": "guest@example.com", "password": "correct horse",
                "photoUrl": "https://example.com/b.png",
            ]
            let linked = try await service.call("accounts:signUp", moved)
            #expect(try await service.account(guest.localID)?["photoUrl"] == "https://example.com/b.png")
            let other: JSON = ["idToken": JSON(linked.idToken), "localId": JSON(ada.localID)]
            try await service.call("accounts:delete", other).expectRefused("INSUFFICIENT_PERMISSION")
            let own: JSON = ["idToken": JSON(linked.idToken), "localId": JSON(linked.localID)]
            try await service.call("accounts:delete", own).expectOK()
            #expect(try await service.account(ada.localID) != nil)
        }
    }

    @Test(
        "in dev a continue URL may be any on this machine, and no other",
        arguments: [
            ("http://localhost:3000/", true), ("http://127.0.0.1:3000/", true), ("http://[::1]:3000/", true),
            ("http://app.localhost:3000/", true), ("http://127.0.0.2:3000/", true), ("http://127.255.255.254/", true),
            ("http://localhost:3000/Ü?ä=ö", true), ("http://a.b.localhost/", true), ("http://128.0.0.1/", false),
            ("http://localhost.evil.example/", false), ("http://127.0.0.1.evil.example/", false),
            ("http://evillocalhost/", false), ("http://127.1/", false), ("http://ü.localhost/", false),
            ("http://app.localhost@evil.example/", false), ("http://[::ffff:8.8.8.8]/", false),
        ]
    )
    func loopback(_ url: String, _ isAllowed: Bool) async throws {
        var options = TestService.Options()
        options.development = true
        options.settings = .development
        try await TestService.run(options) { service in
            let body: JSON = [
                "requestType": "EMAIL_SIGNIN", "email": "c@example.com", "continueUrl": .string(url),
                "canHandleCodeInApp": true,
            ]
            let reply = try await service.call("accounts:sendOobCode", body)
            #expect((reply.status == 200) == isAllowed, "\(url): \(reply)")
        }
    }
}
