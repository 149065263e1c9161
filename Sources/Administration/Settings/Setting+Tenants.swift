import Projects

extension Setting {
    /// Whether the project may have tenants.
    static let tenants: [Setting] = [flag("multiTenant.allowTenants", \.allowsTenants)]

    /// The settings of a tenant, which change those that apply in it.
    package static let ofTenant: [Setting] =
        [
            flag("allowPasswordSignup", \.passwordSignIn), flag("enableEmailLinkSignin", \.allowsEmailLink),
            flag("enableAnonymousUser", \.anonymousSignIn),
        ] + ofTenantAsOfProject + describedOfTenant + unsupportedOfTenant

    /// Settings that a project has too, by their paths in both.
    private static let ofTenantAsOfProject: [Setting] = [
        ("client.permissions", "client.permissions"), ("emailPrivacyConfig", "emailPrivacyConfig"),
        ("passwordPolicyConfig", "passwordPolicyConfig"), ("smsRegionConfig", "smsRegionConfig"),
        ("mfa", "mfaConfig"), ("identity.emailCodes", "identity.emailCodes"),
        (captchaOperations, captchaOperations), (passkeyConfig, passkeyConfig),
        ("signIn.phoneNumber.testPhoneNumbers", "testPhoneNumbers"),
    ].flatMap { there, here in
        all.filter { $0.path == there || $0.path.hasPrefix(there + ".") }.map { setting in
            Setting(path: here + String(setting.path.dropFirst(there.count)), value: setting.value)
        }
    }
}
