import Linking
import Projects

extension SettingsMember {
    /// Phone sign-in, and the regions for SMS.
    static let phone: [SettingsMember] = [
        flag("signIn.phoneNumber.enabled", \.phone.isEnabled),
        SettingsMember(path: "signIn.phoneNumber.testPhoneNumbers") { object, name, settings in
            var numbers: [String: String] = [:]
            for (text, code) in try object.texts(name) {
                guard let number = PhoneNumber(text), code.wholeMatch(of: /[0-9]{6}/) != nil,
                    numbers.updateValue(code, forKey: number.text) == nil
                else {
                    throw WireError("INVALID_CONFIG", "testPhoneNumbers must have a six-digit code for each number.")
                }
            }
            guard numbers.count <= 10 else {
                throw WireError("INVALID_CONFIG", "testPhoneNumbers must be at most ten.")
            }
            settings.phone.testNumbers = numbers
        },
        SettingsMember(path: "smsRegionConfig") { object, name, settings in
            settings.phone.regions = try regions(object.object(name) ?? WireObject())
        },
    ]

    private static func regions(_ object: WireObject) throws -> SMSRegions {
        let denied = try object.object("allowByDefault")
        let allowed = try object.object("allowlistOnly")
        guard denied == nil || allowed == nil else {
            throw WireError("INVALID_CONFIG", "smsRegionConfig accepts allowByDefault or allowlistOnly, not both.")
        }
        let listed = try denied?.strings("disallowedRegions") ?? allowed?.strings("allowedRegions") ?? []
        guard listed.allSatisfy(DiallingCodes.isRegion), Set(listed).count == listed.count else {
            throw WireError("INVALID_CONFIG", "smsRegionConfig must list ISO 3166-1 regions such as DE, each once.")
        }
        return SMSRegions(isAllowlist: allowed != nil, listed: listed.sorted())
    }
}

extension JSONWriter {
    mutating func phone(_ settings: PhoneSettings) {
        object("phoneNumber") { json in
            json.member("enabled", ifTrue: settings.isEnabled)
            json.testPhoneNumbers(settings.testNumbers)
        }
    }

    mutating func testPhoneNumbers(_ numbers: [String: String]) {
        guard !numbers.isEmpty else { return }
        object("testPhoneNumbers") { json in
            for (number, code) in numbers.sorted(by: { $0.key < $1.key }) { json.member(number, code) }
        }
    }

    mutating func smsRegions(_ regions: SMSRegions) {
        object("smsRegionConfig") { json in
            if regions.isAllowlist {
                json.object("allowlistOnly") { $0.member("allowedRegions", strings: regions.listed) }
            } else {
                json.object("allowByDefault") { $0.member("disallowedRegions", strings: regions.listed) }
            }
        }
    }
}
