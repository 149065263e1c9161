import TestKit
import Testing

@Suite("Evidence is made where a proof is checked")
struct EvidenceSourceTests {
    /// The files that construct each type; a new one must check a proof first.
    private static let makers: [String: Set<String>] = [
        "Evidence": [
            "Accounts/EnrollSecondFactor.swift", "Accounts/AccountsService+VerificationCodes.swift",
            "Accounts/Passkeys/SignInWithPasskey.swift",
            "Accounts/SignInWithCustomToken.swift", "Accounts/SignInWithEmailLink.swift",
            "Accounts/SignInWithIdP+Proof.swift", "Accounts/SignInWithPassword.swift",
            "Accounts/SignInWithSecondFactor.swift", "Accounts/SignUp.swift", "Accounts/UpdateAccount.swift",
            "Storage/Evidence.swift", "Storage/TemporaryProof.swift",
        ],
        "FederatedCredential": [
            // Explains what would happen, and opens nothing.
            "Accounts/ExplainSignIn.swift",
            "Development/FakeCredentialVerifier.swift", "Federation/OAuth1/FederationService+Verifier.swift",
            "Federation/Service/FederationService+Redeem.swift", "Federation/Service/FederationService+Verify.swift",
        ],
        "CustomToken": ["Accounts/SignInWithCustomToken.swift", "Development/UnsignedCustomTokens.swift"],
        "PasswordMatch": ["Passwords/PasswordHasher.swift"],
        "TriedCode": ["Storage/VerificationCodeStore.swift"],
        "OOBCode": ["Storage/OOBCodeStore.swift"],
    ]

    @Test("T-A15: types that stand for a proof are constructed only in these files", arguments: makers.keys.sorted())
    func constructed(_ type: String) throws {
        let construction = try Regex(#"(?m)^(?!\s*//)(?:.*[^A-Za-z.])?\#(type)\("#)
        let found = try Repository.files(below: "Sources", suffix: ".swift").filter {
            try Repository.text("Sources/\($0)").contains(construction)
        }
        #expect(Set(found) == Self.makers[type])
    }
}
