import Crypto
import Foundation
import IdentityClient
import IdentityTestKit
import Testing

/// Sign-in with an authenticator app, against the program.
@Suite struct SecondFactorTests {
    @Test func anAuthenticatorAppCompletesTheSignIn() async throws {
        let program = try IdentityProgram.shared
        try await program.admin(
            "PATCH",
            "/v2/projects/demo-project/config?updateMask=mfa",
            #"{"mfa":{"state":"ENABLED","providerConfigs":[{"state":"ENABLED","totpProviderConfig":{}}]}}"#
        )
        let auth = try Auth(url: program.url, apiKey: "any", storage: MemorySessionStorage())
        let email = "\(UUID().uuidString.lowercased())@example.com"
        let user = try await auth.createUser(withEmail: email, password: "correct horse").user
        try await program.admin(
            "POST",
            "/v1/projects/demo-project/accounts:update",
            #"{"localId":"\#(user.uid)","emailVerified":true}"#
        )
        let start = try await program.admin(
            "POST",
            "/v2/accounts/mfaEnrollment:start?key=any",
            #"{"idToken":"\#(try await user.idToken())","totpEnrollmentInfo":{}}"#
        )
        let session = try #require(start["totpSessionInfo"] as? [String: Any])
        let key = try #require(session["sharedSecretKey"] as? String)
        let secret = try #require(Base32.decode(key))
        let info = try #require(session["sessionInfo"] as? String)
        let step = UInt64(Date().timeIntervalSince1970) / 30
        try await program.admin(
            "POST",
            "/v2/accounts/mfaEnrollment:finalize?key=any",
            """
            {"idToken":"\(try await user.idToken())","displayName":"My phone",
            "totpVerificationInfo":{"sessionInfo":"\(info)","verificationCode":"\(code(secret, step))"}}
            """
        )
        try await auth.signOut()

        let error = await #expect(throws: AuthError.self) {
            try await auth.signIn(withEmail: email, password: "correct horse")
        }
        guard case .secondFactorRequired(let resolver)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(resolver.hints.map(\.kind) == [.totp])
        #expect(resolver.hints.first?.displayName == "My phone")
        #expect(auth.currentUser == nil)
        // Each code works once; the next one already does.
        let result = try await resolver.resolveSignIn(withTOTP: code(secret, step + 1))
        #expect(result.user.uid == user.uid)
        #expect(auth.currentUser == result.user)
    }

    /// The code of a time step (RFC 6238, RFC 4226 §5.3).
    private func code(_ secret: [UInt8], _ step: UInt64) -> String {
        let counter = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let mac = Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret)))
        let offset = Int(mac[19] & 15)
        let number = mac[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
        return String(format: "%06d", number % 1_000_000)
    }
}

/// RFC 4648 §6, without padding.
private enum Base32 {
    static func decode(_ text: String) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        var bytes: [UInt8] = []
        var (bits, width) = (0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | value
            width += 5
            guard width >= 8 else { continue }
            width -= 8
            bytes.append(UInt8(bits >> width & 255))
        }
        return bytes
    }
}
