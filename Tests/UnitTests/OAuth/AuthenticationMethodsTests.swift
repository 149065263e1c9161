import Domain
import OAuth
import Testing

@Suite("amr")
struct AuthenticationMethodsTests {
    @Test(
        "names both factors",
        arguments: [
            (ProviderID.password, nil, ["pwd"]), (.google, nil, []), (.phone, "totp", ["sms", "otp", "mfa"]),
            (.password, "phone", ["pwd", "sms", "mfa"]), (.password, "passkey", ["pwd", "pop", "mfa"]),
            // It verified its user, so it is both.
            (.passkey, "passkey", ["pop", "mfa"]),
        ] as [(ProviderID, String?, [String])]
    )
    func names(provider: ProviderID, secondFactor: String?, names: [String]) {
        #expect(AuthenticationMethods.names(of: provider, secondFactor: secondFactor) == names)
    }
}
