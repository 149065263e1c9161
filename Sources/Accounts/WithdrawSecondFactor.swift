import Domain
import Projects
import Sessions
import Storage

extension AccountsService {
    package var withdrawSecondFactor: WithdrawSecondFactor { WithdrawSecondFactor(service: self) }
}

/// Removes a second factor from the signed-in account.
package struct WithdrawSecondFactor: Sendable {
    let service: AccountsService

    /// Other sessions end; this one continues, without the factor if it was signed in with it.
    package func callAsFunction(
        idToken: String?,
        enrollment: String?,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let token = try await service.verify(idToken, caller: caller)
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        try service.requireRecentSignIn(token, caller: caller)
        let renewal = service.prepareRenewal()
        let changed = try await service.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            try service.require([.withdrawSecondFactor], of: user, caller)
            let left = account.secondFactors.filter { $0.id != enrollment }
            guard left.count < account.secondFactors.count else {
                throw AccountsError.secondFactor(.enrollmentNotFound)
            }
            var changes = AccountChanges()
            changes.secondFactors = left
            changes.endOthers(keeping: renewal.of(user.session).losing(enrollment))
            return changes
        }
        AccountEvent.secondFactorRemoved.log(token.account, caller)
        return try service.issueTokens(after: changed, renewal.secret, caller: caller)
    }
}
