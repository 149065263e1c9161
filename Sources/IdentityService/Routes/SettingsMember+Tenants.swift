import Projects

extension SettingsMember {
    /// Whether the project may have tenants.
    static let tenants: [SettingsMember] = [flag("multiTenant.allowTenants", \.allowsTenants)]

    /// The members of a tenant, which change the settings that apply in it.
    static let ofTenant: [SettingsMember] = ways + ofTenantAsOfProject

    private static let ways: [SettingsMember] = [
        wayToSignIn("allowPasswordSignup", \.passwordSignIn),
        wayToSignIn("enableEmailLinkSignin", \.allowsEmailLink),
        wayToSignIn("enableAnonymousUser", \.anonymousSignIn),
    ]

    /// Members that a project has too, by their paths in both.
    private static let ofTenantAsOfProject: [SettingsMember] = [
        ("client.permissions", "client.permissions"), ("emailPrivacyConfig", "emailPrivacyConfig"),
        ("passwordPolicyConfig", "passwordPolicyConfig"), ("smsRegionConfig", "smsRegionConfig"),
        ("mfa", "mfaConfig"), ("signIn.phoneNumber.testPhoneNumbers", "testPhoneNumbers"),
    ].flatMap { there, here in
        all.filter { $0.path == there || $0.path.hasPrefix(there + ".") }.map { member in
            SettingsMember(path: here + String(member.path.dropFirst(there.count)), set: member.set)
        }
    }

    /// Off by default.
    private static func wayToSignIn(_ path: String, _ value: Path<Bool>) -> SettingsMember {
        SettingsMember(path: path) { object, name, settings in
            settings[keyPath: value] = try object.bool(name) ?? false
        }
    }

    /// Whether a config object has the member.
    func isGiven(in config: WireObject) throws -> Bool {
        var object: WireObject? = config
        var names = path.split(separator: ".").map { String($0) }
        let last = names.removeLast()
        for name in names { object = try object?.object(name) }
        return try object?.has(last) ?? false
    }
}
