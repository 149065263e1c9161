import Linking
import Projects
import Storage

/// Which limits a request is subject to; none where the project has switched them off.
extension Parts {
    /// Failed sign-ins with a password.
    ///
    /// By the address, whether or not somebody has it (threats.md, T-E1).
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

    /// What a reset of the password makes good.
    func forgivenLimits(for email: EmailAddress, _ caller: Caller) -> RateLimits {
        limits(
            [.passwordTries: [email.canonical, caller.place], .passwordTriesPerAccount: [email.canonical]],
            caller
        )
    }

    func signUpLimits(_ caller: Caller) -> RateLimits { limits([.signUpsPerAddress: [caller.place]], caller) }

    /// What the statement that opens an account is to take: nothing once it is taken, before a function of the project is
    /// asked.
    func takeBeforeAsking(_ limits: RateLimits, _ caller: Caller) async throws -> RateLimits {
        guard !caller.project.settings.blockingFunctions.isEmpty else { return limits }
        try await stores.rateLimits.take(limits)
        return .none
    }

    /// - Parameter account: the signed-in account that asks; nil when anybody may ask. Both are counted apart: otherwise
    ///   what anybody is refused would tell that somebody with the address was here.
    func mailLimits(to recipient: EmailAddress, askedBy account: AccountID?, _ caller: Caller) -> RateLimits {
        guard let account else {
            return limits(
                [
                    .mailsPerAddress: [caller.place],
                    .mailsPerRecipient: [recipient.canonical],
                    .mailsPerProject: [],
                ],
                caller
            )
        }
        return limits(
            [
                .mailsPerAddress: [caller.place],
                .mailsPerRecipient: [recipient.canonical, "signed in"],
                .mailsPerAccount: [account.rawValue],
                .mailsPerProject: [],
            ],
            caller
        )
    }

    func smsLimits(to number: PhoneNumber, _ caller: Caller) -> RateLimits {
        limits(
            [.smsPerAddress: [caller.place], .smsPerRecipient: [number.text], .smsPerProject: []],
            caller
        )
    }

    /// For a number of the project with a fixed code, which costs nothing.
    ///
    /// Without its sessions being counted that code could be guessed at, five tries a session. The number may be another
    /// project's too; each counts its own.
    func testNumberLimits(_ number: PhoneNumber, _ caller: Caller) -> RateLimits {
        limits([.smsPerRecipient: [number.text, "test", caller.project.id.rawValue]], caller)
    }

    /// Whoever tries has proved a first factor: nobody else can use them up.
    func secondFactorLimits(of account: String, _ caller: Caller) -> RateLimits {
        limits([.secondFactorTries: [account]], caller)
    }

    func codeLimits(_ caller: Caller) -> RateLimits { limits([.codeTriesPerAddress: [caller.place]], caller) }

    func methodQueryLimits(_ caller: Caller) -> RateLimits {
        limits([.methodQueriesPerAddress: [caller.place]], caller)
    }

    func flowLimits(_ caller: Caller) -> RateLimits { limits([.flowsPerAddress: [caller.place]], caller) }

    func accessTokenLimits(_ caller: Caller) -> RateLimits { limits([.accessTokensPerAddress: [caller.place]], caller) }

    func refreshLimits(_ caller: Caller) -> RateLimits { limits([.refreshTriesPerAddress: [caller.place]], caller) }

    private func limits(_ values: KeyValuePairs<RateLimitKind, [String]>, _ caller: Caller) -> RateLimits {
        RateLimits(values, settings: caller.project.settings.rateLimits, in: caller.scope, now: now())
    }
}

extension Caller {
    /// Callers whose address is not known count as one.
    fileprivate var place: String { subscriber ?? "" }
}
