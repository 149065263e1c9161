import Linking
import Projects
import Sessions
import Storage

/// Takes a second factor from the signed-in account.
package struct WithdrawSecondFactor: Sendable {
    let parts: Parts

    /// Other sessions end; this one goes on, without the factor if it was the one that opened it.
    package func callAsFunction(
        idToken: String?,
        enrollment: String?,
        _ caller: Caller
    ) async throws -> IssuedTokens {
        let token = try await parts.verify(idToken, caller: caller)
        guard let enrollment, !enrollment.isEmpty else { throw AccountsError.secondFactor(.missingEnrollment) }
        try parts.requireRecentSignIn(token, caller: caller)
        let prepared = parts.prepareSession(token, provider: token.signInProvider, caller: caller)
        let changed = try await parts.change(token.account, session: token.session, caller) { account, current in
            let user = try SignedInAccount(token: token, account: account, session: current)
            // A session of a first factor alone does not open the way for others.
            let proved = user.session.secondFactor
            if parts.needsSecondFactor(account, caller), proved == nil { throw AccountsError.recentSignInRequired }
            let left = account.secondFactors.filter { $0.id != enrollment }
            guard left.count < account.secondFactors.count else {
                throw AccountsError.secondFactor(.enrollmentNotFound)
            }
            var changes = AccountChanges()
            changes.secondFactors = left
            changes.renew(prepared.proving(proved?.enrollment == enrollment ? nil : proved), of: user)
            return changes
        }
        AccountEvent.secondFactorRemoved.log(token.account, caller)
        let session = changed.changes.written(prepared) ?? prepared
        return try parts.issueTokens(for: try changed.existing, session, caller: caller)
    }
}
