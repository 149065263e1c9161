import Domain
import Projects
import Sessions
import Storage

extension AccountsService { package var deleteAccount: DeleteAccount { DeleteAccount(service: self) } }

/// Deletes the signed-in account with everything it has.
package struct DeleteAccount: Sendable {
    let service: AccountsService

    /// - Parameter localID: the token's account, as SDKs for Apple platforms send it.
    /// - Throws: ``AccountsError/insufficientPermission`` for another account's.
    package func callAsFunction(idToken: String?, localID: String? = nil, _ caller: Caller) async throws {
        let token = try await service.verify(idToken, caller: caller)
        guard localID == nil || localID == token.account.rawValue else { throw AccountsError.insufficientPermission }
        _ = try await service.change(token.account, session: token.session, caller) { account, session in
            let user = try SignedInAccount(token: token, account: account, session: session)
            guard !caller.project.settings.disabledUserDeletion else { throw AccountsError.deletionClosed }
            try service.require([.deleteAccount], of: user, caller)
            var changes = AccountChanges()
            changes.deletesAccount = true
            return changes
        }
        AccountEvent.deleted.log(token.account, caller)
    }
}
