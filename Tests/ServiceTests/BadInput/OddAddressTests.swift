import Development
import Domain
import Postgres
import Projects
import Secrets
import Storage
import Testing
import TestKit

@Suite("Addresses of odd form", .database)
struct OddAddressTests {
    private static let oddAddresses = [
        "", " ", "ada", "@", "ada@", "@example.com", "ada@@example.com", "ada@b@example.com", " ada@example.com",
        "ada@example.com ", "ada @example.com", "ada@exa mple.com", "ada@example..com", "ada@.example.com",
        "ada@example.com.", "ada@-example.com", "ada@example-.com",
        "ada@example.com,eve@example.com", "ada@example.com;eve@example.com",
        "ada@example.com\neve@example.com",
        "ada@example.com\r\nBcc: eve@example.com", "<ada@example.com>", "Ada <ada@example.com>", "\"ada\"@example.com",
        "ada(comment)@example.com", "ada\u{ff20}example.com", "ada\u{ff20}b@example.com", "ada@example\u{ff0e}com@x",
        "ada\u{fe6b}example.com", "ada\u{200b}@example.com", "ada\u{202e}@example.com", "ada\u{ad}@example.com",
        "ada@ex\u{ff0f}ample.com",
        "ada@[127.0.0.1]", "ada@example.com/x", "ada@example.com?x", "ada@example.com#x", "ada@exam%70le.com",
        "ada:b@example.com",
        "ada\\@example.com", "ada@example.com\u{0b}", "\u{feff}ada@example.com", "ada\u{2024}\u{2024}x@example.com",
        "mailto:ada@example.com", "ada.lovelace@\u{ff45}xample.com", "\u{ff41}da.lovelace@example.com",
        "ada.lovelace@exampl\u{212f}.com", "ada\u{ff0c}eve@example.com",
        "ada@" + String(repeating: "a", count: 64) + ".com",
        String(repeating: "a", count: 250) + "@example.com",
    ]

    @Test("T-E4: addresses of odd form are refused wherever one is taken")
    func oddEmails() async throws {
        try await SignedUp.run { scene in
            for address in Self.oddAddresses {
                let body: JSON = ["email": .string(address), "password": "some password"]
                let signUp = try await scene.refuses { try await scene.service.call("accounts:signUp", body) }
                // Without an address it is an anonymous sign-up with a password.
                #expect(
                    ["INVALID_EMAIL", "MISSING_EMAIL"].contains(signUp.code),
                    "\(address.debugDescription): \(signUp)"
                )
                let signIn = try await scene.refuses {
                    try await scene.service.call("accounts:signInWithPassword", body)
                }
                #expect(
                    ["INVALID_EMAIL", "MISSING_EMAIL"].contains(signIn.code),
                    "\(address.debugDescription): \(signIn)"
                )
                let methods = try await scene.refuses {
                    try await scene.service.call(
                        "accounts:createAuthUri",
                        ["identifier": .string(address), "continueUri": "http://localhost"]
                    )
                }
                #expect(
                    ["INVALID_EMAIL", "MISSING_IDENTIFIER"].contains(methods.code),
                    "\(address.debugDescription)"
                )
                let change = try await scene.refuses {
                    try await scene.service.call(
                        "accounts:update",
                        ["idToken": JSON(scene.account.idToken), "email": .string(address)]
                    )
                }
                #expect(
                    ["INVALID_EMAIL", "MISSING_EMAIL"].contains(change.code),
                    "\(address.debugDescription): \(change)"
                )
                let admin = try await scene.refuses {
                    try await scene.service.admin("accounts", ["email": .string(address)])
                }
                #expect(
                    ["INVALID_EMAIL", "MISSING_EMAIL"].contains(admin.code),
                    "\(address.debugDescription): \(admin)"
                )
            }
        }
    }

    @Test("T-E4: several addresses in a list are no address")
    func listsOfEmails() async throws {
        try await SignedUp.run { scene in
            for value in [
                #"["a@example.com"]"#, #"["a@example.com","b@example.com"]"#, #"{"0":"a@example.com"}"#, "true",
            ] {
                for operation in ["accounts:signUp", "accounts:signInWithPassword"] {
                    try await scene.refuses {
                        try await scene.post(operation, #"{"email":\#(value),"password":"some password"}"#)
                    }
                }
            }
        }
    }

    @Test(
        "T-E4: forms of one address are one account, and forms of two are two",
        arguments: [
            ("ADA.LOVELACE@EXAMPLE.COM", true), ("Ada.Lovelace@Example.Com", true),
            ("adalovelace@example.com", false),
            ("ada.lovelace+tag@example.com", false), ("\u{430}da.lovelace@example.com", false),
            ("ada.lovelace@example.co", false),
            ("ad\u{e1}.lovelace@example.com", false), ("ada.love\u{131}ace@example.com", false),
        ]
    )
    func oneAccount(address: String, isSame: Bool) async throws {
        try await SignedUp.run { scene in
            let reply = try await scene.service.signUp(address, "some password")
            if isSame {
                #expect(reply.error == "EMAIL_EXISTS", "\(reply)")
                let signedIn = try await scene.service.signInWithPassword(address, SignedUp.password)
                #expect(signedIn.localID == scene.account.localID, "\(signedIn)")
            } else {
                reply.expectOK()
                #expect(reply.localID != scene.account.localID)
            }
        }
    }
}
