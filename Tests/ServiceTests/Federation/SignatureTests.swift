import Development
import Domain
import Foundation
import Postgres
import Projects
import Secrets
import StrictJSON
import Testing
import TestKit

@Suite("Signatures of ID tokens", .database, .testProvider)
struct SignatureTests {
    static let algorithms: [(String, IDTokenChanges, String)] =
        ["none", "None", "NONE", "nOnE", "", "HS256", "RS384", "PS256", "ES256", "rs256"].map { name in
            ("alg \(name), unsigned", .unsigned(algorithm: name), Messages.badSignature)
        } + [
            ("no signature", IDTokenChanges(signature: .empty), Messages.badSignature),
            ("zeros", IDTokenChanges(signature: .bytes([UInt8](repeating: 0, count: 256))), Messages.badSignature),
            ("alg none with a good signature", IDTokenChanges(header: ["alg": "none"]), Messages.badSignature),
            ("alg ES256 with an RSA signature", IDTokenChanges(header: ["alg": "ES256"]), Messages.badSignature),
            ("no alg", IDTokenChanges(removeHeader: ["alg"]), Messages.badSignature),
            ("alg as a list", IDTokenChanges(header: ["alg": ["RS256"]]), Messages.badSignature),
            ("unknown kid", IDTokenChanges(header: ["kid": "other"]), Messages.badSignature),
            ("kid with a path", IDTokenChanges(header: ["kid": "../../../dev/null"]), Messages.badSignature),
            ("kid with SQL", IDTokenChanges(header: ["kid": "' OR 1=1 --"]), Messages.badSignature),
            ("crit", IDTokenChanges(header: ["crit": ["exp"]]), Messages.badSignature),
            ("b64", IDTokenChanges(header: ["b64": false, "crit": ["b64"]]), Messages.badSignature),
            ("logout token", IDTokenChanges(header: ["typ": "logout+jwt"]), Messages.badSignature),
            ("access token", IDTokenChanges(header: ["typ": "at+jwt"]), Messages.badSignature),
            (
                "two parts", .rewritten { $0.split(separator: ".").prefix(2).joined(separator: ".") },
                Messages.unparsable
            ),
            ("four parts", .rewritten { $0 + ".AAAA" }, Messages.unparsable),
            ("encrypted", .rewritten { $0 + ".AAAA.BBBB" }, Messages.unparsable),
            ("padded", .rewritten { $0 + "==" }, Messages.unparsable),
            ("no JWT", .rewritten { _ in "hello" }, Messages.unparsable),
            ("another's payload", .rewritten(Self.swapPayload), Messages.badSignature),
        ]

    private static func swapPayload(_ token: String) -> String {
        let parts = token.split(separator: ".")
        guard let payload = Base64URL.decode(parts[1]) else { return token }
        let forged = String(decoding: payload, as: UTF8.self).replacing("ada", with: "eve")
        return "\(parts[0]).\(Base64URL.encode(forged.utf8)).\(parts[2])"
    }

    @Test("T-C5: no other algorithm, key or shape passes for a signature", arguments: algorithms.indices)
    func signatures(_ index: Int) async throws {
        let (name, changes, message) = Self.algorithms[index]
        try await ProviderScene.run(.oidc) { scene in
            let token = try scene.tenant.mintIDToken(for: scene.ada, changes: changes)
            let reply = try await scene.refuses(message) { try await scene.signIn(idToken: token) }
            #expect(reply.error == message, "\(name)")
            var login = ScriptedLogin(scene.ada)
            login.idToken = changes
            scene.tenant.nextLogin(login)
            let arrival = try await scene.arrive()
            try await scene.refuses(message) { try await scene.finish(arrival) }
        }
    }

    @Test("T-C5: a MAC under the public key, in each of its forms, is no signature")
    func publicKeyAsSecret() async throws {
        try await ProviderScene.run(.oidc) { scene in
            let key = try scene.tenant.signingKey()
            let jwk = try key.jwk()
            let forms: [[UInt8]] = [
                Array(key.publicKeyPEM.utf8), Array((key.publicKeyPEM + "\n").utf8), Array(jwk.jsonText.utf8),
                jwk["n"]?.string.flatMap { Base64URL.decode($0) } ?? [], [],
                Array(
                    (Data(base64Encoded: key.publicKeyPEM.split(separator: "\n").dropFirst().dropLast().joined())
                        ?? Data())
                ),
            ]
            try scene.tenant.addRawKey(#"{"kty":"oct","kid":"mac","alg":"HS256","k":"c2VjcmV0"}"#, first: true)
            for form in forms {
                for kid in [key.kid, "mac"] {
                    var changes = IDTokenChanges.hmac(form.isEmpty ? Array("secret".utf8) : form)
                    changes.header["kid"] = .string(kid)
                    let token = try scene.tenant.mintIDToken(for: scene.ada, changes: changes)
                    try await scene.refuses(Messages.badSignature) { try await scene.signIn(idToken: token) }
                }
            }
        }
    }

    @Test("T-C5: ES256 takes 64 bytes by a P-256 key, and nothing else")
    func curves() async throws {
        var options = ProviderScene.Options()
        options.personality = { $0.signing = .es256 }
        try await ProviderScene.run(.oidc, options) { scene in
            let p384 = scene.tenant.addKey(try TestSigningKey(kid: "p384", kind: .es384))
            let rsa = scene.tenant.addKey(try TestSigningKey(kid: "rsa", kind: .rs256))
            for changes in [
                IDTokenChanges(signature: .der), IDTokenChanges(signature: .bytes([UInt8](repeating: 0, count: 64))),
                IDTokenChanges(header: ["alg": "ES256"], key: p384), IDTokenChanges(header: ["alg": "ES256"], key: rsa),
                IDTokenChanges(key: p384), IDTokenChanges(key: rsa),
            ] {
                let token = try scene.tenant.mintIDToken(for: scene.ada, changes: changes)
                try await scene.refuses(Messages.badSignature) { try await scene.signIn(idToken: token) }
            }
            try await scene.signIn(idToken: scene.tenant.mintIDToken(for: scene.ada)).expectOK()
            try await scene.signIn().expectOK()
        }
    }
}
