/// What is counted, and refused when it comes too often, by the names that the settings have.
///
/// A statement takes from several in the order in which a use case names them: addresses first, then what somebody else
/// could use up on purpose.
package enum RateLimitKind: String, Sendable, Hashable, CaseIterable {
    /// Failed sign-ins with a password from one network address.
    case passwordTriesPerAddress
    /// The same, of one email address from one network address.
    case passwordTries
    /// The same, of one email address from everywhere; who was signed in from a network not long ago is spared.
    case passwordTriesPerAccount
    /// New accounts from one network address.
    case signUpsPerAddress
    /// Mails that one network address asks for.
    case mailsPerAddress
    /// Mails to one email address.
    case mailsPerRecipient
    /// Mails that a signed-in account asks for.
    case mailsPerAccount
    case mailsPerProject
    /// Texts that are no code of a mail, from one network address.
    case codeTriesPerAddress
    /// SMS that one network address asks for.
    case smsPerAddress
    /// SMS to one phone number.
    case smsPerRecipient
    case smsPerProject
    /// Wrong codes of second factors, of one account.
    case secondFactorTries
    /// Questions which sign-in methods an email address has.
    case methodQueriesPerAddress
    /// Flows to providers that one network address begins: each is a row for ten minutes.
    case flowsPerAddress
    /// Access tokens without an ID token that one network address shows: each makes the service call the provider.
    case accessTokensPerAddress
    /// Refresh tokens that are neither the current nor the last one of their session, from one network address: each is
    /// compared with up to two thousand earlier ones.
    case refreshTriesPerAddress
    /// Failed sign-ins to the console, and setup codes that are none, from one network address.
    case consoleTriesPerAddress
    /// Failed sign-ins to the console as one person.
    case consoleTries

    /// Those that a project may set: whoever administers it does not say how often the console may be tried.
    package static let ofProjects = allCases.filter { $0 != .consoleTriesPerAddress && $0 != .consoleTries }

    package var standard: RateLimitBudget {
        switch self {
        case .passwordTriesPerAddress: RateLimitBudget(count: 300, seconds: 3_600)
        case .passwordTries: RateLimitBudget(count: 10, seconds: 1_800)
        case .passwordTriesPerAccount: RateLimitBudget(count: 100, seconds: 3_600)
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
        case .consoleTriesPerAddress: RateLimitBudget(count: 20, seconds: 1_800)
        case .consoleTries: RateLimitBudget(count: 30, seconds: 3_600)
        }
    }

    /// Counted over all projects of the deployment: a further project is no further allowance (threats.md, T-E8).
    package var spansProjects: Bool {
        switch self {
        case .passwordTriesPerAddress, .signUpsPerAddress, .mailsPerAddress, .mailsPerRecipient, .codeTriesPerAddress,
            .smsPerAddress, .smsPerRecipient, .methodQueriesPerAddress, .flowsPerAddress, .accessTokensPerAddress,
            .refreshTriesPerAddress, .consoleTriesPerAddress, .consoleTries:
            true
        case .passwordTries, .passwordTriesPerAccount, .mailsPerAccount, .mailsPerProject, .smsPerProject,
            .secondFactorTries:
            false
        }
    }
}

/// How often something may happen: `count` times at once, and as often again within `seconds`, evenly.
package struct RateLimitBudget: Sendable, Hashable, Codable {
    package var count: Int
    package var seconds: Int

    package static let counts = 1...1_000_000
    package static let durations = 1...86_400

    package init(count: Int, seconds: Int) {
        self.count = count
        self.seconds = seconds
    }
}
