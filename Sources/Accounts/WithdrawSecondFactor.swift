import Linking
import Projects
import Sessions
import Storage

extension AccountsService {
    package var withdrawSecondFactor: WithdrawSecondFactor { WithdrawSecondFactor(parts: parts) }
}

/// Removes a second factor from the signed-in account.
package struct WithdrawSecondFactor: Sendable {
    let parts: Parts

    /// Other sessions end; this one continues, without the factor if it was signed in with it.
    package func callAsFunction(
        idToken: String?,
        enrollment: String?,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let token = try await parts.verify(idToken, caller: caller)
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        try parts.requireRecentSignIn(token, caller: caller)
        let renewal = parts.prepareRenewal()
        let changed = try await parts.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            try parts.require([.withdrawSecondFactor], of: user, caller)
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
        return try parts.issueTokens(after: changed, renewal.secret, caller: caller)
    }
}
