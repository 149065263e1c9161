/// The kinds of rate limits, with their names in the settings.
///
/// A statement takes from several in the order in which a use case lists them: limits by address first, then those that
/// an attacker could exhaust on purpose.
package enum RateLimitKind: String, Sendable, Hashable, CaseIterable {
    /// Failed sign-ins with a password from one network address.
    case passwordTriesPerAddress
    /// The same, of one email address from one network address.
    case passwordTries
    /// The same, for one email from any address; networks where the account was used recently are exempt.
    case passwordTriesPerAccount
    /// New passwords of one account, set by its user or with a reset code: each is hashed.
    case passwordChanges
    /// Sign-ins to one account, which each write a session and the audit log, whatever proves them.
    case signInsPerAccount
    /// Changes that users make to their account, which each write the audit log and perhaps a webhook.
    case changesPerAccount
    /// New accounts from one network address.
    case signUpsPerAddress
    /// Emails requested from one network address.
    case mailsPerAddress
    /// Emails to one address.
    case mailsPerRecipient
    /// Emails requested by a signed-in account.
    case mailsPerAccount
    case mailsPerProject
    /// Invalid codes of emails, from one network address.
    case codeTriesPerAddress
    /// SMS requested from one network address.
    case smsPerAddress
    /// SMS to one phone number.
    case smsPerRecipient
    case smsPerProject
    /// Wrong codes of second factors, of one account.
    case secondFactorTries
    /// Queries for the sign-in methods of an email, and changes of an email by its user: both tell whether it is taken.
    case methodQueriesPerAddress
    /// Flows started from one network address: each is stored for ten minutes.
    case flowsPerAddress
    /// Access tokens without an ID token, and revocations, from one network address: each makes the service call the
    /// provider.
    case accessTokensPerAddress
    /// Refresh tokens that are neither the current nor the previous one of their session, from one network address:
    /// each is compared with up to two thousand earlier ones.
    case refreshTriesPerAddress
    /// Applications that register themselves, or whose metadata document or keys the service fetches, from one network
    /// address; those of admins are not counted.
    case clientsPerAddress
    /// Codes that an application gets for an account without the user's doing.
    case silentGrants
    /// Failed sign-ins to the console, and invalid setup codes, from one network address.
    case consoleTriesPerAddress
    /// Failed sign-ins to the console as one admin.
    case consoleTries

    /// Whether callers count by their address.
    package var countsAddresses: Bool { rawValue.hasSuffix("PerAddress") }

    /// Whether they count by their address among other things.
    package var namesAddresses: Bool { countsAddresses || self == .passwordTries }

    /// The limits that a project can set; those of the console are not among them.
    package static let ofProjects = allCases.filter { $0 != .consoleTriesPerAddress && $0 != .consoleTries }

    package var standard: RateLimitBudget {
        switch self {
        case .passwordTriesPerAddress: RateLimitBudget(count: 300, seconds: 3_600)
        case .passwordTries: RateLimitBudget(count: 10, seconds: 1_800)
        case .passwordTriesPerAccount: RateLimitBudget(count: 100, seconds: 3_600)
        case .passwordChanges: RateLimitBudget(count: 10, seconds: 1_800)
        case .signInsPerAccount: RateLimitBudget(count: 500, seconds: 3_600)
        case .changesPerAccount: RateLimitBudget(count: 300, seconds: 3_600)
        // Firebase's.
        case .signUpsPerAddress: RateLimitBudget(count: 100, seconds: 3_600)
        case .mailsPerAddress: RateLimitBudget(count: 50, seconds: 3_600)
        case .mailsPerRecipient: RateLimitBudget(count: 5, seconds: 3_600)
        case .mailsPerAccount: RateLimitBudget(count: 10, seconds: 3_600)
        case .mailsPerProject: RateLimitBudget(count: 10_000, seconds: 86_400)
        case .codeTriesPerAddress: RateLimitBudget(count: 300, seconds: 3_600)
        case .smsPerAddress: RateLimitBudget(count: 20, seconds: 3_600)
        case .smsPerRecipient: RateLimitBudget(count: 5, seconds: 3_600)
        case .smsPerProject: RateLimitBudget(count: 1_000, seconds: 86_400)
        case .secondFactorTries: RateLimitBudget(count: 10, seconds: 3_600)
        case .methodQueriesPerAddress: RateLimitBudget(count: 100, seconds: 3_600)
        case .flowsPerAddress: RateLimitBudget(count: 2_000, seconds: 3_600)
        case .accessTokensPerAddress: RateLimitBudget(count: 600, seconds: 3_600)
        case .refreshTriesPerAddress: RateLimitBudget(count: 300, seconds: 3_600)
        case .clientsPerAddress: RateLimitBudget(count: 60, seconds: 3_600)
        case .silentGrants: RateLimitBudget(count: 100, seconds: 3_600)
        case .consoleTriesPerAddress: RateLimitBudget(count: 20, seconds: 1_800)
        case .consoleTries: RateLimitBudget(count: 30, seconds: 3_600)
        }
    }

    /// Counted over all tenants of a project, or a project's admin could multiply it (threats.md, T-E7).
    package var spansTenants: Bool { self == .mailsPerProject || self == .smsPerProject }

    /// Counted over all projects of the deployment, so that another project is not another budget (threats.md, T-E8);
    /// for recipients, over all projects more widely than in each, so that no project uses up what another needs (T-E34).
    package var spansProjects: Bool {
        switch self {
        case .passwordTriesPerAddress, .signUpsPerAddress, .mailsPerAddress, .mailsPerRecipient, .codeTriesPerAddress,
            .smsPerAddress, .smsPerRecipient, .methodQueriesPerAddress, .flowsPerAddress, .accessTokensPerAddress,
            .refreshTriesPerAddress, .clientsPerAddress, .consoleTriesPerAddress, .consoleTries:
            true
        case .passwordTries, .passwordTriesPerAccount, .passwordChanges, .signInsPerAccount, .changesPerAccount,
            .mailsPerAccount, .mailsPerProject,
            .smsPerProject, .secondFactorTries, .silentGrants:
            false
        }
    }
}

/// A budget: `count` times at once, and as often again within `seconds`, evenly.
package struct RateLimitBudget: Sendable, Hashable, Codable {
    package var count: Int
    package var seconds: Int

    package static let counts = 1...1_000_000
    package static let durations = 1...86_400

    package init(count: Int, seconds: Int) {
        self.count = count
        self.seconds = seconds
    }

    /// Refuses what either would refuse: as many at once as the smaller count, as many in time as the slower rate.
    package func narrowed(to other: RateLimitBudget) -> RateLimitBudget {
        let slower = count * other.seconds <= other.count * seconds ? self : other
        let smaller = min(count, other.count)
        return RateLimitBudget(
            count: smaller,
            seconds: (slower.seconds * smaller + slower.count - 1) / slower.count
        )
    }

    /// A quarter as much in the same time.
    package var quarter: RateLimitBudget { RateLimitBudget(count: max(1, count / 4), seconds: seconds) }

    /// As many times as much in the same time.
    package func times(_ factor: Int) -> RateLimitBudget { RateLimitBudget(count: count * factor, seconds: seconds) }
}
