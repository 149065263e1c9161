import Linking
import Projects
import Sessions
import Storage

extension AccountsService { package var deleteAccount: DeleteAccount { DeleteAccount(parts: parts) } }

/// Deletes the signed-in account with everything it has.
package struct DeleteAccount: Sendable {
    let parts: Parts

    package func callAsFunction(idToken: String?, _ caller: Caller) async throws {
        let token = try await parts.verify(idToken, caller: caller)
        _ = try await parts.change(token.account, session: token.session, caller) { account, session in
            let user = try SignedInAccount(token: token, account: account, session: session)
            guard !caller.project.settings.disabledUserDeletion else { throw AccountsError.deletionClosed }
            try parts.require([.deleteAccount], of: user, caller)
            var changes = AccountChanges()
            changes.deletesAccount = true
            return changes
        }
        AccountEvent.deleted.log(token.account, caller)
    }
}
