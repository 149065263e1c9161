package import Domain

/// Phone sign-in, `signIn.phoneNumber`, and the regions for SMS, `smsRegionConfig`.
package struct PhoneSettings: Sendable, Hashable, Codable {
    /// Whether an SMS code signs in.
    package var isEnabled = false
    /// Numbers that get no SMS and have a fixed code, for tests and app reviewers.
    package var testNumbers: [String: String] = [:]
    package var regions = SMSRegions()
    // Rows of earlier releases lack these.
    private var ownTexts: [String: String]?
    private var namesHosts: Bool?

    /// The project's own texts of SMS by language (BCP 47), as the admin spelled it; each is in place of ours.
    package var texts: [String: String] {
        get { ownTexts ?? [:] }
        set { ownTexts = newValue.isEmpty ? nil : newValue }
    }

    /// Whether the SMS that a page requests names the page's host, for which browsers then offer the code.
    package var bindsCodesToPages: Bool {
        get { namesHosts ?? false }
        set { namesHosts = newValue ? true : nil }
    }

    /// What ``texts`` may contain.
    package static let placeholders = ["%CODE%", "%APP_NAME%"]

    package init() {}
}

/// The regions (ISO 3166-1) that SMS are sent to.
package struct SMSRegions: Sendable, Hashable, Codable {
    /// Whether ``listed`` contains the allowed regions instead of the refused ones.
    package var isAllowlist = false
    package var listed: [String] = []

    package init() {}

    package init(isAllowlist: Bool, listed: [String]) {
        self.isAllowlist = isAllowlist
        self.listed = listed
    }

    /// Whether SMS may be sent to a number.
    ///
    /// If several regions share a dialing code, listing one lists them all. A number without a region (satellite,
    /// premium, unassigned) is refused as soon as any region is listed.
    package func allows(_ number: PhoneNumber) -> Bool {
        if !isAllowlist, listed.isEmpty { return true }
        let regions = DiallingCodes.regions(of: number)
        guard !regions.isEmpty else { return false }
        return regions.contains(where: listed.contains) == isAllowlist
    }
}
