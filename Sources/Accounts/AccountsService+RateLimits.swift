import Domain
import Projects
import Sessions
import Storage

/// The rate limits of each request; none if the project has disabled them.
extension AccountsService {
    /// Failed sign-ins with a password.
    ///
    /// Counted by email, whether or not an account has it (threats.md, T-E1).
    func passwordLimits(for email: EmailAddress, _ caller: Caller) -> RateLimits {
        limits(
            [
                .passwordTriesPerAddress: [caller.place],
                .passwordTries: [email.canonical, caller.place],
                .passwordTriesPerAccount: [email.canonical],
            ],
            caller
        )
    }

    /// The limits that a password reset clears.
    func forgivenLimits(for email: EmailAddress, _ caller: Caller) -> RateLimits {
        limits(
            [.passwordTries: [email.canonical, caller.place], .passwordTriesPerAccount: [email.canonical]],
            caller
        )
    }

    /// New passwords of an account, whoever sets them (T-E29).
    ///
    /// - Parameter isReset: whether a code of the account's mailbox allows it, which a thief's session must not use up.
    func passwordChangeLimits(of account: AccountID, isReset: Bool = false, _ caller: Caller) -> RateLimits {
        limits([.passwordChanges: [Self.name(of: account, caller)] + (isReset ? ["reset"] : [])], caller)
    }

    /// Changes and sign-outs that one session asks for.
    func sessionLimits(of account: AccountID, _ session: SessionID, _ caller: Caller) -> RateLimits {
        limits([.changesPerAccount: [Self.name(of: account, caller), session.rawValue]], caller)
    }

    /// Changes that a user makes to the account (threats.md, T-E40).
    ///
    /// Recent sign-ins count apart: a thief's old session uses up nothing of what the owner needs to get rid of it.
    func changeLimits(of user: SignedInAccount, _ caller: Caller) -> RateLimits {
        let isRecent = (try? requireRecentSignIn(user.token, caller: caller)) != nil
        let kind = isRecent ? ["recent"] : []
        return limits([.changesPerAccount: [Self.name(of: user.account.id, caller)] + kind], caller)
    }

    /// - Parameter account: the guest or user that sets its first password; nil for a new account.
    func signUpLimits(_ caller: Caller, of account: AccountID? = nil) -> RateLimits {
        guard let account else { return limits([.signUpsPerAddress: [caller.place]], caller) }
        return limits([.signUpsPerAddress: [caller.place], .passwordChanges: [Self.name(of: account, caller)]], caller)
    }

    /// The limits for the statement that creates an account: empty if they are taken now, before a blocking function is
    /// called.
    func takeBeforeAsking(_ limits: RateLimits, _ caller: Caller) async throws -> RateLimits {
        guard !caller.project.settings.blockingFunctions.isEmpty else { return limits }
        try await stores.rateLimits.take(limits)
        return .none
    }

    /// An address has its own limit in each project.
    ///
    /// All addresses of its mailbox have a wider one there, and a still wider
    /// one in all projects; both leave room for the mailbox's own address, so neither another project nor requests for
    /// `victim+1@example.com` keep emails from `victim@example.com`, nor those for `v.ictim@gmail.com` from
    /// `victim@gmail.com` (threats.md, T-E34).
    ///
    /// - Parameters:
    ///   - account: the signed-in account that requests it; nil if no sign-in is needed.
    ///   - isNotice: whether it tells of a change that the account made.
    ///
    /// What strangers, other accounts and the recipient itself request is counted separately: otherwise a refusal without
    ///   sign-in would reveal that the email's user was active, and others could use up what an account needs for itself.
    func mailLimits(
        to recipient: EmailAddress,
        askedBy account: Account?,
        isNotice: Bool = false,
        _ caller: Caller
    ) -> RateLimits {
        var asker: [String] = []
        if let account {
            let isOwn = account.email?.canonical == recipient.canonical
            // An account of another tenant may have the email, too.
            asker = isNotice ? ["notice"] : isOwn ? ["own", caller.tenant.rawValue] : ["signed in"]
        }
        let mailbox = [recipient.mailbox, "mailbox"] + asker
        var keys = [
            RateLimitKey(.mailsPerAddress, [caller.place]),
            RateLimitKey(.mailsPerRecipient, [recipient.canonical] + asker, .project(times: 1)),
            RateLimitKey(.mailsPerRecipient, mailbox, .project(times: 4), leavesShare: recipient.isVariant),
            RateLimitKey(.mailsPerRecipient, mailbox, .allProjects(times: 16), leavesShare: recipient.isVariant),
        ]
        if let account { keys.append(RateLimitKey(.mailsPerAccount, [Self.name(of: account.id, caller)])) }
        let limits = limits(keys + [RateLimitKey(.mailsPerProject, [])], caller)
        // Anyone can have accounts without a verified email.
        return account?.emailVerified == false ? limits.leavingHalfShare(of: .mailsPerProject) : limits
    }

    /// Those of a project's back end, which may write to anybody as often as it likes: its project shares the deployment's
    /// sender with others.
    func projectMailLimits(_ caller: Caller) -> RateLimits { limits([.mailsPerProject: []], caller) }

    /// Those of messages to the account's own verified email about what its session did.
    func noticeLimits(of account: AccountID, _ caller: Caller) -> RateLimits {
        limits(
            [
                .mailsPerAddress: [caller.place], .mailsPerAccount: [Self.name(of: account, caller)],
                .mailsPerProject: [],
            ],
            caller
        )
    }

    /// A number has its own limit in each project, and a wider one in all projects, so that no project uses up what another
    /// needs (threats.md, T-E34).
    ///
    /// - Parameter owner: the account whose second factor the number is, and where it is asked for; nil if the number is not
    ///   known to be the caller's.
    ///
    /// The two are counted separately, and the others leave a share of the project's SMS: otherwise anyone could use up the
    /// SMS that a user needs to sign in.
    func smsLimits(
        to number: PhoneNumber,
        of owner: (account: AccountID, place: SecondFactorPlace)?,
        _ caller: Caller
    ) -> RateLimits {
        let values = owner.map { ["second factor"] + Self.values(of: $0.account, $0.place, caller) } ?? []
        var keys = [
            RateLimitKey(.smsPerAddress, [caller.place]),
            RateLimitKey(.smsPerRecipient, [number.text] + values, .project(times: 1)),
        ]
        if owner == nil {
            keys.append(RateLimitKey(.smsPerRecipient, [number.text], .allProjects(times: 4)))
        } else {
            // One number may be the second factor of many accounts.
            keys.append(RateLimitKey(.smsPerRecipient, [number.text, "second factors"], .project(times: 2)))
        }
        let limits = limits(keys + [RateLimitKey(.smsPerProject, [])], caller)
        return owner == nil ? limits.leavingShare(of: .smsPerProject) : limits
    }

    /// For a test number of the project, whose fixed code costs nothing.
    ///
    /// Sessions are counted, because otherwise the code could be guessed with five attempts per session. The number may
    /// be a test number of other projects too; each project counts separately.
    func testNumberLimits(_ number: PhoneNumber, _ caller: Caller) -> RateLimits {
        limits([RateLimitKey(.smsPerRecipient, [number.text, "test"], .project(times: 1))], caller)
    }

    /// Where a second factor is asked for.
    ///
    /// Whoever has the first factor uses up what an account has elsewhere; a network where it proved its second factor lately
    /// has its own (threats.md, T-E2).
    enum SecondFactorPlace { case home, elsewhere }

    func standing(of account: AccountID, _ caller: Caller) async throws -> SecondFactorStanding? {
        try await accounts.standing(of: account, from: caller.addressPrefix, in: caller.scope, now: now())
    }

    /// Of codes that can be guessed.
    func secondFactorLimits(of account: AccountID, _ places: [SecondFactorPlace], _ caller: Caller) -> RateLimits {
        limits(places.map { RateLimitKey(.secondFactorTries, Self.values(of: account, $0, caller)) }, caller)
    }

    private static func values(of account: AccountID, _ place: SecondFactorPlace, _ caller: Caller) -> [String] {
        [Self.name(of: account, caller)] + (place == .home ? [caller.addressPrefix ?? ""] : [])
    }

    /// What an account is counted by: another tenant may have its ID, too.
    private static func name(of account: AccountID, _ caller: Caller) -> String {
        "\(caller.tenant.rawValue)/\(account.rawValue)"
    }

    func codeLimits(_ caller: Caller) -> RateLimits { limits([.codeTriesPerAddress: [caller.place]], caller) }

    func methodQueryLimits(_ caller: Caller) -> RateLimits {
        limits([.methodQueriesPerAddress: [caller.place]], caller)
    }

    func flowLimits(_ caller: Caller) -> RateLimits { limits([.flowsPerAddress: [caller.place]], caller) }

    func accessTokenLimits(_ caller: Caller) -> RateLimits { limits([.accessTokensPerAddress: [caller.place]], caller) }

    func clientLimits(_ caller: Caller) -> RateLimits { limits([.clientsPerAddress: [caller.place]], caller) }

    /// - Parameter isByUser: whether the browser says that its user caused the visit. Anybody can write that header, so such
    ///   visits are limited too, but apart from the others.
    func silentGrantLimits(of account: AccountID, to client: String, isByUser: Bool, _ caller: Caller) -> RateLimits {
        limits([.silentGrants: [Self.name(of: account, caller), client] + (isByUser ? ["by the user"] : [])], caller)
    }

    /// Grants by steps of our own pages, which one visit may take again and again.
    func pageGrantLimits(of account: AccountID, to client: String, _ caller: Caller) -> RateLimits {
        limits([.silentGrants: [Self.name(of: account, caller), client, "by a page"]], caller)
    }

    func refreshLimits(_ caller: Caller) -> RateLimits { limits([.refreshTriesPerAddress: [caller.place]], caller) }

    private func limits(_ values: KeyValuePairs<RateLimitKind, [String]>, _ caller: Caller) -> RateLimits {
        limits(values.map { RateLimitKey($0, $1) }, caller)
    }

    private func limits(_ keys: [RateLimitKey], _ caller: Caller) -> RateLimits {
        let counted = keys.filter { !caller.isBackEnd || !$0.kind.countsAddresses }
            .flatMap { [$0] + ofSite($0.kind, caller) }
        return RateLimits(
            caller.isFromForeignPage ? counted.map(\.ofForeignPage) : counted,
            settings: caller.project.settings.rateLimits,
            deployment: options.deploymentLimits,
            from: caller.address,
            vouchedFor: caller.isVouchedFor,
            signUps: caller.project.settings.signUpQuota.budget(at: now()),
            in: caller.scope,
            now: now()
        )
    }
}

/// What a /48 counts by, of which one customer can have all 65,536 networks: eight times what one of them has, but twice for
/// SMS, so that it alone does not use up a project's (``RateLimitKind/smsPerProject``).
///
/// Sign-ups share statements, which need one bucket for each.
private func ofSite(_ kind: RateLimitKind, _ caller: Caller) -> [RateLimitKey] {
    guard let site = caller.site, kind.countsAddresses, !caller.isVouchedFor,
        kind != .signUpsPerAddress
    else { return [] }
    return [RateLimitKey(kind, [site], .allProjects(times: kind == .smsPerAddress ? 2 : 8))]
}

extension SecondFactorStanding {
    var place: AccountsService.SecondFactorPlace { isAtHome ? .home : .elsewhere }
}

extension Caller {
    /// Callers with unknown addresses share a limit.
    fileprivate var place: String { subscriber ?? "" }
}
