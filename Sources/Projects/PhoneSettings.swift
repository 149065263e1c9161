package import Linking

/// Sign-in by phone, `signIn.phoneNumber`, and where SMS may go, `smsRegionConfig`.
package struct PhoneSettings: Sendable, Hashable, Codable {
    /// Whether a code by SMS signs in.
    package var isEnabled = false
    /// Numbers that get no SMS and have one code, for tests and for those who review apps.
    package var testNumbers: [String: String] = [:]
    package var regions = SMSRegions()

    package init() {}
}

/// The regions (ISO 3166-1) whose numbers get SMS.
package struct SMSRegions: Sendable, Hashable, Codable {
    /// Whether ``listed`` names those that get SMS, and not those that get none.
    package var isAllowlist = false
    package var listed: [String] = []

    package init() {}

    package init(isAllowlist: Bool, listed: [String]) {
        self.isAllowlist = isAllowlist
        self.listed = listed
    }

    /// Whether a number may get an SMS.
    ///
    /// Where several regions share a dialling code, one that is listed lists them all. A number of no region (satellite,
    /// premium, unassigned) gets none as soon as any region is listed.
    package func allows(_ number: PhoneNumber) -> Bool {
        if !isAllowlist, listed.isEmpty { return true }
        let regions = DiallingCodes.regions(of: number)
        guard !regions.isEmpty else { return false }
        return regions.contains(where: listed.contains) == isAllowlist
    }
}
