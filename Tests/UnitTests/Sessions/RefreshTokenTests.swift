import Domain
import Projects
import Secrets
import Sessions
import Testing

@Suite struct RefreshTokenTests {
    private let number = ProjectNumber(rawValue: 123_456_789_012)
    private let session: SessionID
    private let ring: KeyRing

    init() throws {
        session = try TokenParts.session()
        ring = try KeyRing(keys: [KeyRing.Key(id: "key", bytes: [UInt8](repeating: 7, count: 32))])
    }

    private func token(
        _ account: String = "abcdefghijklmnopqrstuvwxyz01",
        tenant: TenantID = .none,
        secret: String = RandomSource { [UInt8](0..<UInt8($0)) }.handle(),
        generation: Int = 258
    ) -> RefreshToken {
        RefreshToken(
            projectNumber: number,
            tenant: tenant,
            account: AccountID(account),
            session: session,
            secret: Secret(secret),
            generation: generation,
            under: ring
        )
    }

    @Test func isBase64URLOfItsFourParts() throws {
        let text = token().text
        let plain = String(decoding: try #require(Base64URL.decode(text)), as: UTF8.self)
        let parts = plain.split(separator: ".")
        #expect(parts.dropLast() == ["123456789012", "abcdefghijklmnopqrstuvwxyz01", "AAECAwQFBgcICQoLDA0ODw"])
        // The secret, the generation, and 16 bytes of proof.
        let last = try #require(parts.last.flatMap { Base64URL.decode(String($0)) })
        #expect(Array(last.prefix(36)) == [UInt8](0..<32) + [0, 0, 1, 2])
        #expect(last.count == 52)
        #expect(RefreshToken(text) == token())
        #expect(token().secretHash == SecureHash.sha256("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"))
    }

    @Test func accountsMayHaveAnyCharacters() throws {
        let accounts = [
            "a", ".", "...", "a.b.c", "1.2.3.4", "user@example.com", "имя", "🧑🏽‍🚀", "\u{1}", "\n", "e\u{301}", " ", "/../",
            String(repeating: "x", count: 128), String(repeating: "🚀", count: 128),
            "x.AAECAwQFBgcICQoLDA0ODw.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        ]
        for account in accounts {
            let read = try #require(RefreshToken(token(account).text))
            #expect(Array(read.account.rawValue.utf8) == Array(account.utf8))
            #expect(read.projectNumber == number && read.session == session && read.secret == token().secret)
        }
        #expect(Set(accounts.map { token($0).text }).count == accounts.count)
    }

    @Test("T-D4: an account id with NUL, which the database cannot hold, is in no refresh token")
    func noAccountHasNUL() {
        for account in ["\u{0}", "a\u{0}", "\u{0}b"] { #expect(RefreshToken(token(account).text) == nil) }
    }

    @Test("T-D4: no other text, however close, is the same refresh token")
    func everyOtherText() throws {
        let token = token("a.b")
        var others: [[UInt8]] = []
        let bytes = Array(token.text.utf8)
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << bit
                others.append(other)
            }
            others.append(Array(bytes.prefix(index)))
            others.append(Array(bytes.suffix(index)))
            others.append(Array(bytes[..<index] + bytes[(index + 1)...]))
            others.append(Array(bytes[..<index] + [bytes[index]] + bytes[index...]))
        }
        for end in ["=", "==", "A", "AA", "AAA", "AAAA", ".", " ", "\n", "\0", "%3D"] {
            others.append(bytes + Array(end.utf8))
            others.append(Array(end.utf8) + bytes)
        }
        var read = 0
        for other in others where other != bytes {
            guard let another = RefreshToken(String(decoding: other, as: UTF8.self)) else { continue }
            read += 1
            #expect(
                another.projectNumber != token.projectNumber || another.account != token.account
                    || another.session != token.session || another.secretHash != token.secretHash
                    || !another.isGenuine(under: ring)
            )
            #expect(Array(another.text.utf8) == other, "a second spelling")
        }
        #expect(read > 100)  // other numbers, accounts, sessions and secrets are tokens, of another row or hash
    }

    @Test("T-D4: each part has one spelling") func parts() throws {
        let session = "AAECAwQFBgcICQoLDA0ODw"
        let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        func read(_ plain: String) -> RefreshToken? { RefreshToken(Base64URL.encode(Array(plain.utf8))) }
        #expect(read("1.a.\(session).\(secret)") != nil)
        for number in ["", "01", "+1", " 1", "1 ", "-0", "0x1", "1e3", "１", "9223372036854775808", "a"] {
            #expect(read("\(number).a.\(session).\(secret)") == nil, "\(number)")
        }
        #expect(read("1/t.a.\(session).\(secret)")?.tenant == TenantID(rawValue: "t"))
        #expect(read("1.t/a.\(session).\(secret)")?.tenant == TenantID.none)
        for scope in ["1/", "/t", "1/t\u{0}", "01/t", "1 /t"] {
            #expect(read("\(scope).a.\(session).\(secret)") == nil, "\(scope)")
        }
        for other in [
            "", session + "A", String(session.dropLast()), "AAECAwQFBgcICQoLDA0ODx", session + "==", "session",
        ] {
            #expect(read("1.a.\(other).\(secret)") == nil, "\(other)")
        }
        for other in ["", secret + "A", String(secret.dropLast()), String(secret.dropLast()) + "9", secret + "="] {
            #expect(read("1.a.\(session).\(other)") == nil, "\(other)")
        }
        #expect(read("1..\(session).\(secret)") == nil)
        #expect(read("1.\(session).\(secret)") == nil)
        #expect(read("1.\(String(repeating: "x", count: 513)).\(session).\(secret)") == nil)
        let malformed = Array("1.".utf8) + [0xff] + Array(".\(session).\(secret)".utf8)
        #expect(RefreshToken(Base64URL.encode(malformed)) == nil)
    }

    @Test("T-D34: a token's generation is the service's word, also after its key was replaced") func generations()
        throws
    {
        let token = token("a.b", generation: 7)
        let read = try #require(RefreshToken(token.text))
        #expect(read.generation == 7)
        #expect(read.isGenuine(under: ring))
        let newer = try KeyRing.Key(id: "newer", bytes: [UInt8](repeating: 8, count: 32))
        let key = try KeyRing.Key(id: "key", bytes: [UInt8](repeating: 7, count: 32))
        #expect(try read.isGenuine(under: KeyRing(keys: [newer, key])))
        #expect(try !read.isGenuine(under: KeyRing(keys: [newer])))
        // Nothing of it can be exchanged for another's.
        let other = try #require(RefreshToken(self.token("a.c", generation: 7).text))
        let plain = String(decoding: try #require(Base64URL.decode(other.text)), as: UTF8.self)
        let moved = try #require(RefreshToken(Base64URL.encode(Array(plain.replacing("a.c", with: "a.b").utf8))))
        #expect(moved.account == token.account && !moved.isGenuine(under: ring))
        // Nor a tenant's for the project's: the account may have the same ID there.
        let own = try #require(RefreshToken(self.token("a.b", tenant: TenantID(rawValue: "t-1")).text))
        #expect(own.tenant == TenantID(rawValue: "t-1") && own.isGenuine(under: ring))
        let plainOwn = String(decoding: try #require(Base64URL.decode(own.text)), as: UTF8.self)
        for tenant in ["", "/t-2"] {
            let text = plainOwn.replacing("/t-1", with: tenant)
            #expect(RefreshToken(Base64URL.encode(Array(text.utf8)))?.isGenuine(under: ring) == false)
        }
        // Of releases without proofs.
        let old = "123456789012.a.b.\(session.rawValue).\(token.secret.reveal())"
        let without = try #require(RefreshToken(Base64URL.encode(Array(old.utf8))))
        #expect(without.generation == nil && !without.isGenuine(under: ring))
        #expect(without.secretHash == token.secretHash)
    }

    @Test("T-D2: an ID token is no refresh token, nor is anything else that we hand out")
    func otherKinds() throws {
        for key in try [TestKeys.rs256(), TestKeys.es256()] {
            let idToken = try IDTokenMinter.mint(TokenParts.claims(), with: key)
            #expect(RefreshToken(idToken) == nil)
            for part in idToken.split(separator: ".") { #expect(RefreshToken(String(part)) == nil) }
        }
        #expect(RefreshToken(RandomSource.system.handle()) == nil)
        #expect(RefreshToken(session.rawValue) == nil)
        #expect(RefreshToken("") == nil)
        #expect(RefreshToken(String(repeating: "A", count: 100_000)) == nil)
    }

    @Test func secretsAreNewEachTime() throws {
        let tokens = (0..<100).map { _ in token(secret: RandomSource.system.handle()) }
        #expect(Set(tokens.map(\.secret)).count == 100)
        #expect(Set(tokens.map(\.secretHash)).count == 100)
    }

    @Test func printsNothingOfItsSecret() {
        var dumped = ""
        dump(token(), to: &dumped)
        let secret = token().secret.reveal()
        for text in [dumped, "\(token())", String(reflecting: token())] {
            #expect(!text.contains(secret) && !text.contains(token().text))
        }
    }
}

@Suite struct SessionIDTests {
    @Test func is22CharactersOf16Bytes() throws {
        let id = SessionID(random: RandomSource { [UInt8](0..<UInt8($0)) })
        #expect(id.rawValue == "AAECAwQFBgcICQoLDA0ODw")
        #expect(SessionID(rawValue: id.rawValue) == id)
        #expect(SessionID(random: .system) != SessionID(random: .system))
    }

    @Test(arguments: [
        "", "AAECAwQFBgcICQoLDA0OD", "AAECAwQFBgcICQoLDA0ODx", "AAECAwQFBgcICQoLDA0ODwA", "AAECAwQFBgcICQoLDA0O.w",
    ])
    func refuses(_ text: String) {
        #expect(SessionID(rawValue: text) == nil)
    }
}
